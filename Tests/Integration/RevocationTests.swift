import Console
import Foundation
import Reactor
import Store
import TestSupport
import Testing

@testable import signalbox

/// What a command line takes away, in a process of its own, a running server no longer gives.
@Suite("Revocations beside a running server", .timeLimit(.minutes(3)))
struct RevocationTests {
  private static let cookie = "a-cookie-that-is-long-enough"

  /// The status of an answer.
  private static func status(_ box: CommandRunner, _ port: UInt16, _ path: String, _ header: String) async throws
    -> String
  {
    let child = try Child(
      [
        "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", header, "http://127.0.0.1:\(port)\(path)",
      ], in: box.folder, seconds: 60)
    _ = await child.status()
    return child.outputText
  }

  private static func signalbox(_ box: CommandRunner, _ words: String...) async throws {
    let child = try Child([try Child.signalbox()] + words + ["--data", box.data], in: box.folder, seconds: 60)
    #expect(await child.status() == 0, "\(child.errorText)")
  }

  @Test("a token that is revoked and a person who is removed are refused at the next request")
  func revoked() async throws {
    try await CommandRunner.with { box in
      let token = await box.run("tokens", "add", "ci", "--role", "viewer", now: Date()).output
        .trimmingCharacters(in: .whitespacesAndNewlines)
      await box.run("users", "add", "anna@example.com", "--role", "viewer", now: Date())
      let store = try DataDirectory(box.data, environment: [:]).open(now: Date())
      try await store.write { database in
        let user = try #require(try User.find(database, name: "anna@example.com"))
        try Session.open(
          database, idHash: Secret.hash(Self.cookie), user: user.id, csrf: "csrf", lifetime: 86_400, now: Date())
      }
      store.close()
      try await Service.with(.test(box.data)) { service in
        let port = service.address.port
        let bearer = "Authorization: Bearer \(token)"
        let cookie = "Cookie: signalbox_session=\(Self.cookie)"
        for _ in 0..<3 {
          #expect(try await Self.status(box, port, "/api/v1/apps", bearer) == "200")
          #expect(try await Self.status(box, port, "/", cookie) == "200")
        }
        try await Self.signalbox(box, "tokens", "remove", "1")
        #expect(try await Self.status(box, port, "/api/v1/apps", bearer) == "401")
        #expect(try await Self.status(box, port, "/", cookie) == "200")
        try await Self.signalbox(box, "users", "remove", "anna@example.com")
        #expect(try await Self.status(box, port, "/", cookie) == "303")
      }
    }
  }
}
