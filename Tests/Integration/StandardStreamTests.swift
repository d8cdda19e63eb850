import Foundation
import Glibc
import Testing

@testable import signalbox

/// Standard output and standard error that nobody can write to, or nobody reads.
@Suite("Standard streams", .timeLimit(.minutes(3)))
struct StandardStreamTests {
  /// Runs the real program with a redirection of the shell's.
  private func run(_ box: CommandRunner, _ redirection: String, _ words: String...) throws -> Child {
    try Child(
      ["sh", "-c", #"exec "$0" "$@" \#(redirection)"#, try Child.signalbox()] + words, in: box.folder, seconds: 100)
  }

  @Test(
    "output that cannot be written ends with 1 and a line, and no crash",
    arguments: [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")])
  func output(redirection: String, cause: String) async throws {
    try await CommandRunner.with { box in
      let data = "--data=\(box.data)"
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let children = [
        try run(box, redirection, "--version"), try run(box, redirection, "manual"),
        try run(box, redirection, "apps", "list", data),
        try run(box, redirection, "devices", "export", data, "--format=csv"),
      ]
      for child in children {
        #expect(await child.status() == 1)
        #expect(
          child.errorText.hasSuffix("signalbox: error: standard output cannot be written: write: \(cause)\n"),
          "\(child.errorText)")
      }
    }
  }

  @Test(
    "a server goes on without its output, says so and its address on standard error, and ends well",
    arguments: [">/dev/full", ">&-"])
  func server(redirection: String) async throws {
    try await CommandRunner.with { box in
      let child = try run(
        box, redirection, "serve", "--listen=127.0.0.1:0", "--data=\(box.data)",
        "--resources=\(FileManager.default.currentDirectoryPath)")
      try await eventually("signalbox serve goes on") {
        guard child.isRunning else { throw SceneError("serve ended: \(child.errorText)") }
        return child.errorText.contains("the server goes on")
      }
      let address = try #require(child.errorText.firstMatch(of: /Signalbox .* at (http:\/\/[0-9.:]+)/)).output.1
      try await Child.run("curl", ["-sS", "--fail", "-o", "/dev/null", "\(address)/healthz"], in: box.folder)
      child.send(SIGTERM)
      #expect(await child.status() == 0)
    }
  }

  @Test("a check whose answer cannot be written could not tell, whatever it found")
  func check() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      #expect(await box.run("check-certificates", "--no-probe").code == 0)
      let child = try run(box, ">/dev/full", "check-certificates", "--no-probe", "--json", "--data=\(box.data)")
      #expect(await child.status() == 3)
    }
  }

  @Test("errors that cannot be written crash nothing either", arguments: ["2>/dev/full", "2>&-"])
  func errors(redirection: String) async throws {
    try await CommandRunner.with { box in
      let child = try run(box, redirection, "inspect", "none")
      #expect(await child.status() == 1)
    }
  }

  @Test("what is printed never gets into a file that took the number of a closed stream")
  func closed() async throws {
    try await CommandRunner.with { box in
      let child = try run(box, "<&- >&- 2>&-", "apps", "add", "com.example.one", "--name=One", "--data=\(box.data)")
      #expect(await child.status() == 1)
      let listed = await box.run("apps", "list")
      #expect(listed.code == 0 && listed.output.contains("com.example.one"), "\(listed)")
    }
  }

  @Test("a log that nobody reads holds no request up, nor SIGTERM")
  func blockedLog() async throws {
    try await CommandRunner.with { box in
      let pipe = box.folder + "/log"
      #expect(mkfifo(pipe, 0o600) == 0)
      // Open, and never read.
      let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      defer { close(reader) }
      let child = try run(
        box, "2>'\(pipe)'", "serve", "--listen=127.0.0.1:0", "--data=\(box.data)",
        "--resources=\(FileManager.default.currentDirectoryPath)")
      try await eventually("signalbox serve listens") {
        guard child.isRunning else { throw SceneError("serve ended") }
        return child.outputText.contains("at http://")
      }
      let address = try #require(child.outputText.firstMatch(of: /http:\/\/[0-9.:]+/)).output
      // Each is a line of the log, of a hundred bytes and more; the pipe holds 64 KiB.
      try await Child.run("curl", ["-sS", "--fail", "-o", "/dev/null", "\(address)/healthz?[1-1000]"], in: box.folder)
      child.send(SIGTERM)
      #expect(await child.status() == 0)
    }
  }
}
