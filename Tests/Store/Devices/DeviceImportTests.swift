import Foundation
import JSON
import Model
import Testing

@testable import Store

private let hex = String(repeating: "0a", count: 32)
private let good = #"{"app":"com.example.shop","environment":"production","platform":"ios","token":"\#(hex)"}"#

/// The lines that were read, and those that were rejected, as text; the bytes come in pieces of `size`.
private func parse(
  _ text: String, _ format: DeviceImport.Format, defaults: [String: JSONValue] = [:], pieces size: Int = 7
) -> (read: [DeviceImport.Line], rejected: [String]) {
  var parser = DeviceLineParser(format: format, defaults: defaults)
  var results: [Result<DeviceImport.Line, RejectedLine>] = []
  let bytes = Array(text.utf8)
  for start in stride(from: 0, to: bytes.count, by: size) {
    results += parser.push(bytes[start..<min(start + size, bytes.count)])
  }
  results += parser.finish()
  var read: [DeviceImport.Line] = []
  var rejected: [String] = []
  for result in results {
    switch result {
    case .success(let line): read.append(line)
    case .failure(let line): rejected.append(line.description)
    }
  }
  return (read, rejected)
}

@Suite("Device import")
struct DeviceImportTests {
  @Test(
    "each line of NDJSON is a device, whatever the pieces; blank lines count, but are nothing", arguments: [1, 7, 9999])
  func lines(size: Int) {
    let (read, rejected) = parse("\u{FEFF}\(good)\r\n\n \(good)\n\(good)", .ndjson, pieces: size)
    #expect(read.map(\.number) == [1, 3, 4] && rejected.isEmpty)
    #expect(read.allSatisfy { $0.device.app == "com.example.shop" })
    #expect(read.allSatisfy { $0.device.registration.token.hexadecimal == hex })
  }

  @Test("all fields are read; null removes, missing members stay unchanged")
  func fields() throws {
    let rest = #","alias":"anna","tags":["a","b"],"registration_id":"13165ffa4e0","name":null}"#
    let (read, _) = parse(String(good.dropLast()) + rest, .ndjson)
    let registration = try #require(read.first).device.registration
    #expect(registration.alias.applied(to: "old") == "anna")
    #expect(registration.tags.applied(to: ["old"]) == ["a", "b"])
    #expect(registration.registrationID.applied(to: nil) == "13165ffa4e0")
    #expect(registration.name.applied(to: "old") == nil)
    #expect(parse(good, .ndjson).read.first?.device.registration.alias.applied(to: "old") == "old")
  }

  @Test("details of a device are read from a line; null removes one, and what is left out stays")
  func details() throws {
    try withApp { database, app in
      func take(_ rest: String) throws -> DeviceDetails {
        let (read, rejected) = parse(String(good.dropLast()) + rest + "}", .ndjson)
        #expect(rejected.isEmpty)
        let id = try register(database, app, read.map(\.device.registration))[0]
        return try Device.get(database, id: id).details
      }
      #expect(try take("") == DeviceDetails())
      let all = DeviceDetails(appVersion: "2.4.1", timeZone: "Asia/Shanghai", language: "zh_CN")
      let first = try take(#","app_version":"2.4.1","time_zone":"Asia/Shanghai","language":"zh_CN""#)
      #expect(first == all)
      #expect(try take("") == all, "left out")
      let second = try take(#","time_zone":null,"language":"de""#)
      #expect(second == DeviceDetails(appVersion: "2.4.1", language: "de"))
      let nowhere = parse(String(good.dropLast()) + #","time_zone":"No/Where"}"#, .ndjson).rejected
      #expect(nowhere.count == 1 && nowhere[0].contains("time_zone: “No/Where” is not a time zone"))
      let wrong = parse(String(good.dropLast()) + #","language":"Klingon, of course"}"#, .ndjson).rejected
      #expect(wrong.count == 1 && wrong[0].contains("language: “Klingon, of course” is not a language"))
    }
  }

  @Test(
    "an offset stands for a time zone",
    arguments: [
      ("GMT", true), ("UTC", true), ("GMT+8", true), ("UTC-11", true), ("GMT+530", true), ("GMT+0530", true),
      ("GMT+5:30", true), ("GMT-08:00", true), ("GMT+", false), ("GMT+:00", false), ("GMT+8:", false),
      ("GMT+8:0", false), ("GMT+8:00:00", false), ("GMT+123:00", false), ("GMT+08000", false), ("GMT8", false),
      ("GMT+٨", false), ("gmt+8", false), ("+8", false),
    ])
  func offsets(text: String, isOne: Bool) {
    #expect((DeviceDetails.problem(withTimeZone: text) == nil) == isOne)
  }

  @Test("a wrong line is named with its number, and those after it are read")
  func wrongLines() {
    let dead = good.replacing(#""token""#, with: #""state":"dead","token""#)
    let (read, rejected) = parse("\(good)\n{\"app\":1}\nnonsense\n\(dead)\n\(good)\n", .ndjson)
    #expect(read.map(\.number) == [1, 5])
    #expect(rejected.count == 3)
    #expect(rejected[0].hasPrefix("line 2: app: Expected a JSON string, found integer; environment: Choose one of"))
    #expect(rejected[1].hasPrefix("line 3: "))
    #expect(
      rejected[2]
        == "line 4: state: The device is dead. Only active devices can be imported.")
  }

  @Test("a line without end takes no more memory than a line may", arguments: [DeviceImport.Format.ndjson, .csv])
  func endless(format: DeviceImport.Format) {
    let head = format == .csv ? "app,environment,platform,token\n" : ""
    let long = String(repeating: "x", count: DeviceImport.maximumLineBytes + 1)
    let after = format == .csv ? "com.example.shop,production,ios,\(hex)" : good
    let (read, rejected) = parse("\(head)\(long)\n\(after)\n", format, pieces: 4096)
    let line = format == .csv ? 2 : 1
    #expect(read.map(\.number) == [line + 1])
    #expect(rejected == ["line \(line): The line exceeds 131072 bytes."])
  }

  @Test(
    "CSV: columns in any order and case, quoted cells, empty cells say nothing; any usual separator and line end",
    arguments: [(",", "\r\n", 1), (";", "\n", 5), ("\t", "\n", 9999)])
  func csv(separator: String, end: String, size: Int) throws {
    let rows = [
      ["Token", "platform", "environment", "app", "alias", "tags", "name"],
      ["<\(hex)>", "ios", "development", "com.example.shop", "\"an,n;a\"", "a  b", "\"Anna's \"\"phone\"\"\""],
      ["\(hex)", "ios", "production", "com.example.shop", "", "\"[\"\"a b\"\"]\"", ""],
    ]
    let text = rows.map { $0.joined(separator: separator) }.joined(separator: end)
    let (read, rejected) = parse("\u{FEFF}" + text, .csv, pieces: size)
    #expect(rejected.isEmpty)
    #expect(read.map(\.number) == [2, 3])
    let first = try #require(read.first).device.registration
    #expect(first.alias.applied(to: nil) == "an,n;a" && first.name.applied(to: nil) == "Anna's \"phone\"")
    #expect(first.tags.applied(to: []) == ["a", "b"] && first.environment == .development)
    let second = try #require(read.last).device.registration
    #expect(second.alias.applied(to: "old") == "old" && second.tags.applied(to: []) == ["a b"])
  }

  @Test("CSV: an error names the first line of its record")
  func wrongRecords() {
    let cells = "com.example.shop,production,ios,\(hex)"
    let text = """
      app,environment,platform,token,name
      \(cells),"two
      lines"
      \(cells)
      \(cells),"x"y
      \(cells),fine
      \(cells),"open
      \(cells),lost
      """
    let (read, rejected) = parse(text, .csv)
    #expect(read.map(\.number) == [6])
    #expect(
      rejected == [
        "line 2: name: Must not contain the control character U+000A (at position 4).",
        "line 4: The header has 5 columns, but this line has 4.",
        "line 5: A closing quotation mark must be followed by a separator or the end of the line.",
        "line 7: A quotation mark is not closed. Everything after it was skipped.",
      ])
  }

  @Test("CSV: blank lines count, before the header too, but are nothing")
  func blankRecords() {
    let cells = "com.example.shop,production,ios,\(hex)"
    let (read, rejected) = parse("\n\napp,environment,platform,token\n\n\n\(cells)\n\n\(cells),x\n\n", .csv)
    #expect(read.map(\.number) == [6])
    #expect(rejected == ["line 8: The header has 4 columns, but this line has 5."])
  }

  @Test(
    "CSV: a wrong header ends everything",
    arguments: [
      ("app,environment,platform,token,colour", "Unknown column “colour” in the header. Known columns: app,"),
      ("app,environment,platform,token,app", "The header has the column “app” twice."),
      ("app,environment,platform", "The header lacks the required column “token”."),
    ])
  func headers(header: String, message: String) {
    let (read, rejected) = parse("\(header)\ncom.example.shop,production,ios,\(hex),x\n", .csv)
    #expect(read.isEmpty && rejected.count == 1)
    #expect(rejected.first?.hasPrefix("line 1: " + message) == true)
  }

  @Test("what no line says can be said for all", arguments: DeviceImport.Format.allCases)
  func defaults(format: DeviceImport.Format) {
    let text = format == .csv ? "token,app\n\(hex),\n\(hex),com.example.b\n" : "{\"token\":\"\(hex)\"}\n"
    let (read, rejected) = parse(
      text, format, defaults: ["app": "com.example.a", "environment": "production", "platform": "ios"])
    #expect(rejected.isEmpty)
    #expect(read.map(\.device.app) == (format == .csv ? ["com.example.a", "com.example.b"] : ["com.example.a"]))
  }

  @Test("an app's own rule for names is asked when the app is known")
  func rule() throws {
    let (read, _) = parse(good.dropLast() + #","alias":"a-b","tags":["x-y","ok"]}"#, .ndjson)
    let device = try #require(read.first).device
    #expect(device.problems(rule: .none).isEmpty)
    #expect(device.problems(rule: .jpush).map(\.field) == ["alias", "tags[0]"])
  }

  @Test(
    "CSV: what a spreadsheet would take for a formula is text in it, and comes back as it was",
    arguments: [
      ("=cmd|'/c calc'!A1", "'=cmd|'/c calc'!A1"), ("+8613800000000", "'+8613800000000"), ("-1", "'-1"),
      ("@SUM(1)", "'@SUM(1)"), ("＝1", "'＝1"), ("=\u{301}1", "'=\u{301}1"), ("'=1", "''=1"), ("''+", "\u{27}''+"),
      ("'quoted'", "'quoted'"), ("'", "'"), ("plain=1", "plain=1"),
    ])
  func formulas(alias: String, cell: String) throws {
    try withApp { database, app in
      try register(database, app, [registration(1, alias: alias)])
      let device = try #require(try Device.list(database, DeviceFilter(), order: .oldestFirst, limit: 1).items.first)
      let line = DeviceExport.line(device, app: app.bundleID, .csv)
      #expect(line.contains(",\(cell),") || line.contains(",\"\(cell)\","), "\(line)")
      let (read, rejected) = parse((DeviceExport.header(.csv) ?? "") + line, .csv)
      #expect(rejected.isEmpty)
      try Device.delete(database, id: device.id, now: noon)
      try register(database, app, read.map(\.device.registration))
      #expect(try Device.list(database, DeviceFilter(), order: .oldestFirst, limit: 1).items.first?.alias == alias)
      #expect(DeviceExport.line(device, app: app.bundleID, .ndjson).contains("\"alias\":\"\(alias)\""))
    }
  }

  @Test("an export can be imported again with the same result", arguments: DeviceImport.Format.allCases)
  func roundTrip(format: DeviceImport.Format) throws {
    try withApp { database, app in
      var one = registration(1, alias: "=an\"na;,", tags: ["a", "b c", "[d"], registrationID: "13165ffa4e0")
      one.name = .set("Anna’s phone")
      one.details = DeviceDetails.Changes(DeviceDetails(appVersion: "2.4.1", language: "pt_BR"))
      let android = Registration(
        token: DeviceToken(bytes: Array("dAb:no_usual_prefix-0123456789".utf8)), environment: .development,
        platform: .android)
      try register(database, app, [one, registration(2, tags: ["x", "y"]), android])
      let devices = try Device.list(database, DeviceFilter(), order: .oldestFirst, limit: 10).items
      let text =
        (DeviceExport.header(format) ?? "")
        + devices.map { DeviceExport.line($0, app: app.bundleID, format) }.joined()
      let (read, rejected) = parse(text, format)
      #expect(rejected.isEmpty)
      try App.delete(database, id: app.id)
      let again = try App.add(database, bundleID: "com.example.shop", name: "Shop", now: noon)
      try register(database, again, read.map(\.device.registration))
      let copies = try Device.list(database, DeviceFilter(), order: .oldestFirst, limit: 10).items
      #expect(copies.map(\.token) == devices.map(\.token) && copies.map(\.tags) == devices.map(\.tags))
      #expect(copies.map(\.alias) == devices.map(\.alias) && copies.map(\.name) == devices.map(\.name))
      #expect(copies.map(\.registrationID) == devices.map(\.registrationID))
      #expect(copies.map(\.details) == devices.map(\.details) && copies[0].details.language == "pt_BR")
      #expect(copies.map(\.environment) == devices.map(\.environment))
      #expect(copies.map(\.platform) == devices.map(\.platform))
    }
  }
}
