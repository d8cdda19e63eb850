import Foundation
import JSON
import Model
import Testing

@testable import Store

@Suite("Cells of imported devices")
struct ImportCellTests {
  private static let hex = String(repeating: "0a", count: 32)

  private static func read(
    _ cells: [String: String], separator: String = ","
  ) -> (registration: Registration?, problem: String?) {
    let names = ["app", "environment", "platform", "token"] + cells.keys.sorted()
    let values = ["com.example.shop", "development", "ios", hex] + cells.keys.sorted().map { cells[$0] ?? "" }
    let quoted = values.map { "\"\($0.replacing("\"", with: "\"\""))\"" }
    return read(names.joined(separator: separator) + "\n" + quoted.joined(separator: separator) + "\n", .csv)
  }

  private static func read(
    _ text: String, _ format: DeviceImport.Format
  ) -> (registration: Registration?, problem: String?) {
    var parser = DeviceLineParser(format: format)
    switch (parser.push(Array(text.utf8)) + parser.finish()).first {
    case .success(let line)?: return (line.device.registration, nil)
    case .failure(let line)?: return (nil, line.description)
    case nil: return (nil, nil)
    }
  }

  @Test(
    "several tags in a cell are several tags, however they are separated",
    arguments: [
      ("beta vip", ["beta", "vip"]), ("beta,vip", ["beta", "vip"]), ("beta, vip", ["beta", "vip"]),
      ("beta;vip", ["beta", "vip"]), ("beta，vip", ["beta", "vip"]), ("beta、vip", ["beta", "vip"]),
      ("beta\nvip", ["beta", "vip"]), ("beta\tvip", ["beta", "vip"]), (" beta ,, vip, ", ["beta", "vip"]),
      ("early bird, vip", ["early bird", "vip"]), (#"["beta","vip"]"#, ["beta", "vip"]),
      (#" ["a,b"]"#, ["a,b"]), ("{beta,vip}", ["beta", "vip"]), (#"{"early bird",vip}"#, ["early bird", "vip"]),
      (#"{"a \"b\"",NULL,c}"#, ["a \"b\"", "c"]), ("beta", ["beta"]), ("a|b", ["a|b"]),
    ])
  func tags(cell: String, tags: [String]) {
    for separator in [",", ";", "\t"] {
      let (registration, problem) = Self.read(["tags": cell], separator: separator)
      #expect(problem == nil && registration?.tags.applied(to: []) == tags)
    }
  }

  @Test(
    "an empty value of a database is empty: what was there stays",
    arguments: ["NULL", "null", "\\N", "(null)", "<null>", "[NULL]"])
  func empty(mark: String) {
    let cells = ["alias", "tags", "registration_id", "name", "time_zone"].map { ($0, mark) }
    let (said, wrong) = Self.read(Dictionary(uniqueKeysWithValues: cells))
    #expect(wrong == nil && said?.alias.applied(to: "old") == "old" && said?.name.applied(to: "old") == "old")
    #expect(said?.tags.applied(to: ["old"]) == ["old"] && said?.registrationID.applied(to: "old") == "old")
    let json: JSONValue = [
      "app": "com.example.shop", "environment": "development", "platform": "ios", "token": .string(Self.hex),
      "alias": .string(mark), "tags": [.string(mark), "vip"],
    ]
    let (registration, problem) = Self.read(json.text() + "\n", .ndjson)
    #expect(problem == nil && registration?.alias.applied(to: "old") == "old")
    #expect(registration?.tags.applied(to: []) == ["vip"])
    let needed = Self.read("app,environment,platform,token\n\(mark),development,ios,\(Self.hex)\n", .csv)
    #expect(needed.problem?.contains("app: ") == true)
  }

  @Test(
    "a word of a program for an empty value is refused by name", arguments: ["None", "nil", "undefined", "NaN", "#N/A"])
  func words(word: String) {
    for field in ["alias", "tags"] {
      let (_, problem) = Self.read([field: word])
      #expect(problem?.hasPrefix("line 2: \(field): “\(word)” is how programs write") == true, "\(problem ?? "-")")
    }
    #expect(Self.read(["alias": word.lowercased() + "x"]).problem == nil)
  }

  @Test(
    "tags come back from a cell as they were",
    arguments: [["a", "b"], ["a b"], ["a,b", "c"], ["a;b"], ["[a"], ["{a}"], ["NULL"], ["a，b"], ["x|y"]])
  func roundTrip(tags: [String]) throws {
    let cell = DeviceCSV.cell(tags: tags)
    let expected = tags == ["NULL"] ? nil : tags
    #expect(Self.read(["tags": cell]).registration?.tags.applied(to: []) == expected ?? [])
  }
}
