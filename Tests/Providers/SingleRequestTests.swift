import Foundation
import HTTP2
import JSON
import Model
import OpenSSL
import Testing

@testable import Providers

/// With JPush's calls; those about channels of APNs go the same way.
@Suite("One request over a connection of its own", .timeLimit(.minutes(1)))
struct SingleRequestTests {
  private static func ask(_ running: RunningAPNs, trust: [UInt8]) async throws -> JSONValue {
    let account = ProviderAccount(
      name: "shop", environment: .production,
      endpoint: .custom(host: "localhost", port: running.port, trust: trust))
    let tools = ProviderTools(loop: running.clientLoop, resolver: running.resolver, report: { _ in })
    return try await JPushMaker().ask(.tags, account, tools)
  }

  @Test("an answer is read; a refusal and what is no JSON are told with their status")
  func answers() async throws {
    let answers = [
      ServerResponse(status: 200, body: Array(#"{"tags":["a"]}"#.utf8)), ServerResponse(status: 200),
      ServerResponse(status: 200, body: Array("<html>".utf8)), ServerResponse(status: 404),
      ServerResponse(status: 200, body: [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20 + 1)),
    ]
    let server = ScriptedAPNs { _, responder, number in responder.respond(answers[number - 1]) }
    try await withAPNs(server) { running in
      let trust = Array(running.authority.certificate.pem.utf8)
      let (tags, nothing) = (
        try await Self.ask(running, trust: trust), try await Self.ask(running, trust: trust)
      )
      #expect(tags == ["tags": ["a"]] && nothing == .null)
      for refusal in [
        ServiceRefusal(status: 200, reason: "UnreadableAnswer"), ServiceRefusal(status: 404, reason: "HTTP 404"),
        ServiceRefusal(status: 0, reason: "UnreadableAnswer"),
      ] { await #expect(throws: refusal) { try await Self.ask(running, trust: trust) } }
    }
  }

  @Test("a certificate that is not trusted is told as such")
  func untrusted() async throws {
    try await withAPNs(ScriptedAPNs { _, responder, _ in responder.respond(ServerResponse(status: 200)) }) { running in
      let stranger = Array(try RunningAPNs.makeAuthority().certificate.pem.utf8)
      let refusal = await #expect(throws: ServiceRefusal.self) { try await Self.ask(running, trust: stranger) }
      let reason = try #require(refusal).reason
      #expect(reason.hasPrefix("Untrusted ("), "\(reason)")
    }
  }

  @Test("a cancelled request ends at once")
  func cancelled() async throws {
    let (asked, note) = AsyncStream.makeStream(of: Void.self)
    try await withAPNs(ScriptedAPNs { _, _, _ in note.yield() }) { running in
      let trust = Array(running.authority.certificate.pem.utf8)
      let request = Task { try await Self.ask(running, trust: trust) }
      _ = await asked.first { _ in true }
      request.cancel()
      await #expect(throws: ServiceRefusal(status: 0, reason: "Interrupted")) { try await request.value }
    }
  }
}
