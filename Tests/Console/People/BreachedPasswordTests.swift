import Foundation
import OpenSSL
import Store
import Testing

@testable import Console

@Suite("Passwords known from breaches")
struct BreachedPasswordTests {
  /// A list of these passwords in a file.
  private static func list(
    _ passwords: [String], end: String = "\r\n", _ body: (String) async throws -> Void
  ) async throws {
    let lines = passwords.map { password in
      Digest.sha1(Array(password.utf8)).map { String(format: "%02X", $0) }.joined() + ":\(password.utf8.count)"
    }.sorted()
    try await file(lines.joined(separator: end) + end, body)
  }

  private static func file(_ text: String, _ body: (String) async throws -> Void) async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }  // a left-over file fails no test
    try Data(text.utf8).write(to: file)
    try await body(file.path)
  }

  @Test("each line is found, and nothing between them", arguments: [1, 2, 3, 64, 1000], ["\r\n", "\n"])
  func found(count: Int, end: String) async throws {
    let passwords = (0..<count).map { "password \($0)" }
    try await Self.list(passwords, end: end) { path in
      let breached = try BreachedPasswords(path: path)
      for password in passwords { #expect(try breached.contains(password), "\(password)") }
      for number in 0..<200 { #expect(try !breached.contains("another \(number)")) }
    }
  }

  @Test(
    "what is no such list is refused with its place",
    arguments: [
      ("", "is empty"), ("hello\nworld\n", "byte 0"), (String(repeating: "A", count: 39) + ":1\n", "byte 0"),
      (String(repeating: "F", count: 40) + ":1\n" + String(repeating: "0", count: 40) + ":1\n", "not in the order"),
      (String(repeating: "x", count: 10_000), "byte 0"),
    ])
  func refused(text: String, words: String) async throws {
    try await Self.file(text) { path in
      let error = try #require(#expect(throws: BreachedPasswords.Unusable.self) { try BreachedPasswords(path: path) })
      #expect(error.description.contains(words) && error.description.contains(path), "\(error)")
    }
  }

  @Test("nobody can choose one of them")
  func chosen() async throws {
    let known = "violet harbor ninety canoes"
    try await Self.list([known, "another one of them"]) { path in
      let breached = try BreachedPasswords(path: path)
      try await ConsoleScene.with(breached: breached) { scene in
        var anna = try await scene.signIn(.operator, name: "anna@example.com")
        func change(_ password: String) async throws -> SceneAnswer {
          try await anna.post(
            "/account/password",
            [("current", ConsoleScene.password), ("password", password), ("repeat", password)])
        }
        let refused = try await change(known)
        #expect(refused.status == 422 && refused.text.contains("was leaked by another service"))
        #expect(try await change("violet harbor ninety kayaks").location == "/account")
      }
    }
  }
}
