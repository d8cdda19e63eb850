import Foundation
import JSON
import Model
import Store
import Testing

@testable import signalbox

@Suite("signalbox retention")
struct RetentionCommandTests {
  @Test("times are shown, set, and refused where details would outlive their push")
  func life() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.shop", "--name", "Shop")
      let usual = await box.run("retention", "show", "--json")
      #expect(usual.code == 0)
      #expect(usual.json?["deliveries_days"] == 90 && usual.json?["pushes_days"] == 730)
      #expect(usual.json?["due"]?["deliveries"] == 0)

      let dry = await box.run("retention", "set", "--deliveries", "30d", "--dry-run", "--json")
      #expect(dry.code == 0 && dry.json?["deliveries_days"] == 30)
      #expect(await box.run("retention", "show", "--json").json?["deliveries_days"] == 90)

      let set = await box.run("retention", "set", "--deliveries", "30d", "--sign-in-failures", "0")
      #expect(set.code == 0)
      #expect(set.output.contains("deliveries") && set.output.contains("30 days") && set.output.contains("ever"))
      let store = try DataDirectory(box.data).open(now: CommandRunner.noon)
      defer { store.close() }
      let policy = try store.readSync { try RetentionPolicy.find($0) }
      #expect(policy.deliveries == 30 && policy.signInFailures == 0 && policy.pushes == 730)
      let lines = try store.readSync {
        try AuditEntry.list($0, .init(action: "retention.update"), limit: 9).items.map(\.entry)
      }
      #expect(lines.map(\.actor) == [commandActor])
      #expect(lines.first?.detail?["before"]?["deliveries_days"] == 90)
      #expect(lines.first?.detail?["after"]?["deliveries_days"] == 30)

      let refused = await box.run("retention", "set", "--deliveries", "800")
      #expect(refused.code == 1 && refused.errors.contains("error: --pushes: Pushes must be kept at least as long"))
      let forever = await box.run("retention", "set", "--deliveries", "0d")
      #expect(forever.code == 1 && forever.errors.contains("Enter 0 for pushes as well, or"), "\(forever.errors)")
      #expect(forever.errors.contains("for 1 to 730 days") && !forever.errors.contains("at least 0"))
      #expect(await box.run("retention", "set").code == 64)
      #expect(await box.run("retention", "set", "--deliveries", "soon").code == 64)
    }
  }
}
