import Certificates
import Foundation
import JSON
import Model
import SQLite
import Store
import TestSupport
import Testing

@testable import signalbox

@Suite("signalbox certificates watch, hosts, unwatch; check-certificates")
struct HostCommandTests {
  @Test("a host is watched, listed, told as not known by the check, and watched no longer")
  func hosts() async throws {
    let refusing = try RefusingPort()
    defer { refusing.close() }
    try await CommandRunner.with { runner in
      let place = "\(refusing.address)"
      let added = await runner.run("certificates", "watch", place, "--note", "x")
      #expect(added.code == 1 && added.output.contains("Watching host 1: \(place), refused"), "\(added)")
      let again = await runner.run("certificates", "watch", "https://\(place)/")
      #expect(again.code == 1 && again.errors.contains("already watched"))
      let listed = await runner.run("certificates", "hosts")
      #expect(listed.lines.count == 2 && listed.lines[1].contains("refused"))
      let json = await runner.run("certificates", "hosts", "--json")
      #expect(json.json?.array?.first?["failure"]?["code"] == "refused")
      let check = await runner.run("check-certificates")
      #expect(check.code == 3 && check.output.contains("UNKNOWN  \(place): The connection was refused"))
      // An hour later it is looked at again, unless that is not wanted.
      let later = CommandRunner.noon + 7200
      func probedAt() async -> String? {
        await runner.run("certificates", "hosts", "--json").json?.array?.first?["probed_at"]?.string
      }
      _ = await runner.run("check-certificates", "--no-probe", now: later)
      #expect(await probedAt() == "2026-11-20T12:00:00Z")
      _ = await runner.run("check-certificates", now: later)
      #expect(await probedAt() == "2026-11-20T14:00:00Z")
      let nagios = await runner.run("check-certificates", "--nagios", "--no-probe", now: later)
      #expect(nagios.code == 3 && nagios.output.contains("; 1 unknown, 0 watched | "))
      #expect(nagios.output.hasPrefix("CERTIFICATES UNKNOWN - UNKNOWN ") && nagios.lines[0].contains("127.0.0.1"))
      let both = await runner.run("check-certificates", "--json", "--nagios")
      #expect(both.code == 64 && both.output.isEmpty && both.errors.contains("either --json or --nagios"))
      #expect(await runner.run("certificates", "unwatch", "1").code == 0)
      #expect(await runner.run("certificates", "unwatch", "1").code == 1)
      #expect(await runner.run("check-certificates").code == 0)
      // As long as on its page, which would refuse every change of it otherwise.
      for (note, code) in [(String(repeating: "ü", count: 501), Int32(64)), (String(repeating: "ü", count: 500), 1)] {
        let watched = await runner.run("certificates", "watch", place, "--note", note)
        #expect(watched.code == code && (code == 1 || watched.errors.contains("--note")), "\(watched)")
      }
      #expect(await runner.run("certificates", "unwatch", "2").code == 0)
      for wrong in ["", "http://a.example", "a b"] {
        #expect(await runner.run("certificates", "watch", wrong).code == 64, "\(wrong)")
      }
    }
  }

  /// Many files in a data folder, each ending on a day of its own.
  private func fill(_ runner: CommandRunner, days: [Double?]) throws {
    let store = try DataDirectory(runner.data).open(creating: true, now: CommandRunner.noon)
    defer { store.close() }
    try store.writeSync { database in
      for (number, days) in days.enumerated() {
        var details = TrackedCertificate.Details(kind: "apns_certificate", name: "C\(number)", fileName: "f.p12")
        details.notAfter = days.map { CommandRunner.noon + $0 * 86_400 }
        details.topics = ["com.example.app\(number)", "com.example.app\(number).voip"]
        details.environments = [.development, .production]
        details.sha256 = "AB:\(number)"
        details.publicPEM = String(repeating: "x", count: 2000)
        try TrackedCertificate.add(
          database, details, material: [], sealer: store.sealer, by: "test", now: CommandRunner.noon)
      }
    }
  }

  @Test(
    "exit codes, with the limit that is asked for",
    arguments: [
      ([31.0, nil], 30, Int32(0)), ([30], 30, 1), ([31], 60, 1), ([8], 1, 0), ([7], 1, 2), ([0], 30, 2),
      ([-1, 90], 30, 2),
      ([], 30, 0), ([nil], 30, 0),
    ] as [([Double?], Int, Int32)])
  func exitCodes(days: [Double?], within: Int, code: Int32) async throws {
    try await CommandRunner.with { runner in
      try fill(runner, days: days)
      for option in ["--json", "--nagios"] {
        let result = await runner.run("check-certificates", "--within", "\(within)d", option)
        #expect(result.code == code, "\(option): \(result.output)")
      }
      let list = await runner.run("certificates", "list", "--json", "--within", "\(within)d")
      #expect(list.json?.array?.count == days.filter { $0.map { $0 <= Double(within) } ?? false }.count)
      let table = await runner.run("certificates", "list")
      #expect(table.lines.first?.contains("EXPIRES") == true || days.isEmpty, "\(table.output)")
      for days in days.compactMap({ $0 }) where days > 0 { #expect(table.output.contains("in \(Int(days)) days")) }
      if days.contains(-1) { #expect(table.output.contains("day ago"), "\(table.output)") }
    }
  }

  @Test("ten thousand things are checked within two seconds of the processor's time")
  func tenThousand() async throws {
    try await CommandRunner.with { runner in
      try fill(runner, days: (0..<10_000).map { Double($0) / 20 + 8 })
      for option in ["--json", "--nagios"] {
        let before = clock()
        let result = await runner.run("check-certificates", option)
        let seconds = Double(clock() - before) / Double(CLOCKS_PER_SEC)
        #expect(result.code == 1)
        // Not optimized, and beside other tests, whose time counts as well.
        #expect(seconds < 10, "\(option): \(seconds) s")
      }
    }
  }
}
