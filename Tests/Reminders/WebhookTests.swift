import Foundation
import JSON
import Reminders
import Store
import TestSupport
import Testing

@Suite("Reminders by webhook")
struct WebhookTests {
  private static let noon = ReminderScene.noon
  private static func at(_ seconds: TimeInterval) -> Date { noon.addingTimeInterval(seconds) }

  @Test("each service gets a reminder that it takes: signed as it wants it, with the secret and the time of now")
  func services() async throws {
    try await WebhookTestServer.with(secret: "s3cret, 机密") { server in
      try await ReminderScene.with { scene in
        for service in WebhookTestServer.Service.allCases {
          let channel = try #require(Receiver.Channel(rawValue: service.rawValue))
          try await scene.receiver(server.address(service), channel, language: "zh-Hans", secret: "s3cret, 机密")
        }
        try await scene.keep("Shop", until: Self.at(20 * 86_400))
        let look = try await scene.worker(.cron).look(now: Self.noon)
        #expect(look.failures == [] && look.sent == 3)
        #expect(server.received.map(\.signedAt) == [noonSeconds, noonSeconds, noonSeconds])
        #expect(Set(server.received.map(\.service)) == Set(WebhookTestServer.Service.allCases))
        let answers = try await scene.messages().map { $0.answer ?? "" }
        #expect(answers.contains { $0.contains("taken") } && answers.allSatisfy { $0.hasPrefix("200 ") })
      }
    }
  }

  private let noonSeconds = noon.timeIntervalSince1970

  @Test(
    "another secret is refused in the service's words, and tried again", arguments: WebhookTestServer.Service.allCases)
  func wrongSecret(service: WebhookTestServer.Service) async throws {
    try await WebhookTestServer.with(secret: "right") { server in
      try await ReminderScene.with { scene in
        let channel = try #require(Receiver.Channel(rawValue: service.rawValue))
        try await scene.receiver(server.address(service), channel, secret: "wrong")
        try await scene.keep("Shop", until: Self.at(20 * 86_400))
        let look = try await scene.worker(.cron).look(now: Self.noon)
        #expect(look.sent == 0 && server.received.map(\.signedAt) == [nil])
        let words = [
          WebhookTestServer.Service.webhook: "401 the signature does not fit", .dingtalk: "sign not match",
          .feishu: "sign match fail",
        ]
        let message = try #require(try await scene.messages().first)
        #expect(message.state == .pending && message.answer?.contains(words[service] ?? "–") == true)
        #expect(message.answer?.contains("the signature or the token in the URL was refused") == true)
      }
    }
  }

  @Test(
    "after 500 and 503 it comes again, later and later, as long as it is asked to; once, under one id, newly signed")
  func backOff() async throws {
    try await WebhookTestServer.with(secret: "s") { server in
      server.fail(.init(500), .init(503, retryAfter: 600))
      try await ReminderScene.with { scene in
        try await scene.receiver(server.address(.webhook), .webhook, secret: "s")
        try await scene.keep("Shop", until: Self.at(20 * 86_400))
        // When it looks, and how many requests there were after that: after 60 s, and 600 s behind the second.
        let looks: [(TimeInterval, Int)] = [(0, 1), (59, 1), (60, 2), (659, 2), (660, 3), (90_000, 3)]
        for (seconds, count) in looks {
          _ = try await scene.worker(.serve).look(now: Self.at(seconds))
          #expect(server.received.count == count, "after \(seconds) s")
        }
        #expect(server.received.map(\.signedAt) == [0, 60, 660].map { Self.at($0).timeIntervalSince1970 })
        let message = try #require(try await scene.messages().first)
        #expect(message.state == .sent && message.attempts == 3)
        #expect(Set(server.received.map(\.delivery)) == [message.uid])
        let items = server.received.last?.json["items"] as? [[String: Any]]
        #expect(items?.first?["name"] as? String == "Shop" && items?.first?["days_left"] as? Int == 19)
        #expect(items?.first?["url"] as? String == "https://push.example.com/certificates/1")
      }
    }
  }
}
