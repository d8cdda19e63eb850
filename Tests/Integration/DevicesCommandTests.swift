import Foundation
import JSON
import Model
import Store
import Testing

@testable import signalbox

@Suite("signalbox devices")
struct DevicesCommandTests {
  private func token(_ number: Int) -> String {
    String(repeating: "0", count: 8 - String(number, radix: 16).count) + String(number, radix: 16)
      + String(repeating: "ab", count: 28)
  }

  private func line(_ number: Int, _ rest: String = "", app: String = "com.example.shop") -> String {
    #"{"app":"\#(app)","environment":"production","platform":"ios","token":"\#(token(number))"\#(rest)}"# + "\n"
  }

  private func withApp(_ body: (CommandRunner) async throws -> Void) async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.shop", "--name", "Shop", "--alias-rule", "jpush")
      try await body(box)
    }
  }

  @Test("right lines are kept, wrong ones named with number and reason; then the exit code is 1")
  func rejected() async throws {
    try await withApp { box in
      let text =
        line(1, #","alias":"anna","tags":["a"]"#) + line(2, app: "com.example.none") + "nonsense\n"
        + line(3, #","alias":"an-na""#) + line(1, #","tags":["b"]"#)
      let path = try box.file("devices.ndjson", text)
      let result = await box.run("devices", "import", path)
      #expect(result.code == 1)
      #expect(result.output == "5 devices: 1 added, 1 updated, 3 rejected.\n")
      let errors = result.errors.split(separator: "\n")
      #expect(errors.count == 3)
      #expect(errors.contains("line 2: app: App “com.example.none” not found. Add it first."))
      let nonsense = errors.first { $0.hasPrefix("line 3: ") } ?? ""
      #expect(nonsense.contains(" line 3, column "), "\(nonsense)")
      #expect(errors.contains { $0.hasPrefix("line 4: alias: An alias must not contain “-”") })
      let json = await box.run("devices", "import", path, "--json").json
      #expect(json?["lines"] == 5 && json?["added"] == 0 && json?["updated"] == 2 && json?["rejected"] == 3)
      #expect(json?["errors"]?.array?.count == 3)
      let list = await box.run("devices", "list", "--json")
      #expect(list.json?.array?.count == 1 && list.json?.array?.first?["tags"] == ["b"])
      #expect(list.json?.array?.first?["alias"] == "anna")
    }
  }

  @Test("an empty filter is wrong usage: the export of a script's empty variable would be an empty file")
  func emptyFilters() async throws {
    try await withApp { box in
      for words in [
        ["list", "--tag", ""], ["export", "--alias="], ["export", "--registration-id", ""],
        ["tag", "1", "--remove", ""],
      ] {
        let result = await box.run(["devices"] + words)
        #expect(result.code == 64 && result.errors.contains("it is empty"), "\(words): \(result)")
      }
    }
  }

  @Test("devices are tagged, named, moved and merged together; wrong choices say why and change nothing")
  func together() async throws {
    try await withApp { box in
      let file = try box.file("devices.ndjson", (1...4).map { line($0) }.joined())
      #expect(await box.run("devices", "import", file).code == 0)
      let tagged = await box.run("devices", "tag", "1", "2", "99", "--add", "vip", "--remove", "old")
      #expect(tagged.code == 1 && tagged.errors.contains("Device 99 not found."))
      #expect(tagged.output == "add tags: changed 2 of 3 devices.\nremove tags: changed 0 of 3 devices.\n")
      let named = await box.run("devices", "alias", "1", "2", "--alias", "anna", "--json")
      #expect(named.code == 0 && named.json?.array?.first?["changed"] == 2)
      let odd = await box.run("devices", "alias", "3", "--alias", "an-na")
      #expect(odd.code != 0 && odd.errors.contains("An alias must not contain “-”"))
      #expect(await box.run("devices", "alias", "3").code == 64, "neither --alias nor --none")
      #expect(await box.run("devices", "reactivate", "3").errors.contains("None of these devices is parked"))
      #expect(await box.run("devices", "move", "3", "4", "--to", "development").code == 0)
      #expect(await box.run("devices", "move", "3", "--to", "staging").code == 64)
      let merged = await box.run("devices", "merge", "1", "2")
      #expect(merged.code == 0 && merged.output == "merge: changed 2 of 2 devices.\n")
      let list = await box.run("devices", "list", "--json").json?.array ?? []
      #expect(list.map { $0["id"] } == [4, 3, 1] && list.last?["tags"] == ["vip"] && list.last?["alias"] == "anna")
      #expect(list.map { $0["environment"]?.string } == ["development", "development", "production"])
      #expect(await box.run("devices", "alias", "1", "--none").code == 0)
    }
  }

  @Test("a list and an export can be of one push service")
  func services() async throws {
    try await withApp { box in
      let file = try box.file(
        "a.ndjson",
        line(1)
          + #"{"app":"com.example.shop","environment":"production","platform":"ios","provider":"jpush","token":"1a0018970a8"}"#
          + "\n"
      )
      #expect(await box.run("devices", "import", file).output.hasPrefix("2 devices: 2 added"))
      for (service, count) in [("apns", 1), ("jpush", 1), ("fcm", 0)] {
        #expect(await box.run("devices", "list", "--json", "--provider", service).json?.array?.count == count)
        let lines = await box.run("devices", "export", "--provider", service).output.split(separator: "\n")
        #expect(lines.count == count && lines.allSatisfy { $0.contains("1a0018970a8") == (service == "jpush") })
      }
      #expect(await box.run("devices", "list", "--provider", "gcm").code == 64)
    }
  }

  @Test("the form is told by the name, or by --format; a dry run keeps nothing")
  func forms() async throws {
    try await withApp { box in
      let csv = "token,alias\n\(token(1)),anna\n\(token(2)),\n"
      #expect(await box.run("devices", "import", "-", input: csv).code == 64)
      let words = [
        "devices", "import", try box.file("a.csv", csv), "--app", "com.example.shop", "--environment", "development",
        "--platform", "ios",
      ]
      let dry = await box.run(words + ["--dry-run"])
      #expect(dry.code == 0 && dry.output.hasPrefix("2 devices: 2 added, 0 updated, 0 rejected (dry run"))
      #expect(await box.run("devices", "list", "--json").json == [])
      #expect(await box.run(words).output == "2 devices: 2 added, 0 updated, 0 rejected.\n")
      let none = await box.run("devices", "import", box.folder + "/none.csv")
      #expect(none.code == 1 && none.errors.hasSuffix("/none.csv: No such file or directory\n"), "\(none.errors)")
      for (name, text) in [("empty.csv", ""), ("empty.ndjson", "\n"), ("head.csv", "app,environment,platform,token\n")]
      {
        let empty = await box.run("devices", "import", try box.file(name, text))
        #expect(empty.code == 0 && empty.errors == "signalbox: \(box.folder)/\(name) has no devices.\n")
      }
      let one = await box.run("devices", "import", "-", "--format", "ndjson", input: line(9))
      #expect(one.output == "1 device: 1 added, 0 updated, 0 rejected.\n")
      let help = await box.run("help", "devices", "import").output.replacing(/\s+/, with: " ")
      #expect(help.contains("name, provider, app_version, time_zone, language"), "every column is named")
      let header = await box.run("devices", "import", "-", "--format", "csv", input: "colour\nred\n")
      #expect(header.code == 1 && header.errors.hasPrefix("line 1: Unknown column “colour” in the header"))
    }
  }

  @Test("several thousand devices go in and out again unchanged", arguments: ["ndjson", "csv"])
  func roundTrip(format: String) async throws {
    try await withApp { box in
      let text = (1...2500).map { line($0, $0.isMultiple(of: 2) ? #","tags":["even"]"# : "") }.joined()
      let first = await box.run("devices", "import", "-", "--format", "ndjson", input: text)
      #expect(first.output == "2500 devices: 2500 added, 0 updated, 0 rejected.\n")
      let export = await box.run("devices", "export", "--format", format)
      #expect(export.code == 0)
      await box.run("apps", "remove", "com.example.shop", "--force")
      await box.run("apps", "add", "com.example.shop", "--name", "Shop")
      let second = await box.run("devices", "import", "-", "--format", format, input: export.output)
      #expect(second.output == "2500 devices: 2500 added, 0 updated, 0 rejected.\n" && second.errors.isEmpty)
      #expect(await box.run("devices", "list", "--tag", "even", "--limit", "0", "--json").json?.array?.count == 1250)
    }
  }

  @Test("a person at a terminal sees how far it is, on standard error alone")
  func progress() async throws {
    try await withApp { box in
      let path = try box.file("a.ndjson", line(1) + "nonsense\n")
      let watched = await box.run(["devices", "import", path], isWatched: true)
      #expect(watched.errors.contains("1 rejected, 100 %") && watched.errors.hasSuffix("\r\u{1B}[K"))
      #expect(watched.output == "2 devices: 1 added, 0 updated, 1 rejected.\n")
      #expect(await box.run("devices", "import", path).errors.contains("%") == false)
    }
  }

  @Test("a list is narrowed down, and ends where it should")
  func list() async throws {
    try await withApp { box in
      let text = (1...5).map { line($0, #","alias":"user\#($0)""#) }.joined()
      await box.run("devices", "import", "-", "--format", "ndjson", input: text)
      let two = await box.run("devices", "list", "--limit", "2")
      #expect(two.lines.count == 3 && two.lines[1].contains("user5") && two.lines[2].contains("user4"))
      #expect(await box.run("devices", "list", "--alias", "user3", "--json").json?.array?.count == 1)
      #expect(await box.run("devices", "list", "--token", "00000002", "--json").json?.array?.count == 1)
      #expect(await box.run("devices", "list", "--token", "xyz").code == 64)
      #expect(await box.run("devices", "list", "--environment", "development", "--json").json == [])
      #expect(await box.run("devices", "list", "--state", "asleep").code == 64)
      #expect(await box.run("devices", "list", "--app", "com.example.none").code == 1)
      #expect(!two.output.contains(token(5)), "a list shows no whole token")
    }
  }

  @Test("devices are removed by their numbers; one that is not there is told")
  func remove() async throws {
    try await withApp { box in
      await box.run("devices", "import", "-", "--format", "ndjson", input: line(1) + line(2))
      let result = await box.run("devices", "remove", "1", "99")
      #expect(result.code == 1 && result.output == "Deleted 1 of 2 devices.\n")
      #expect(result.errors == "signalbox: error: Device 99 not found.\n")
      #expect(await box.run("devices", "remove", "x").code == 64)
      #expect(await box.run("devices", "list", "--json").json?.array?.count == 1)
    }
  }
}
