import Testing

/// Who knows the noun of a feature knows its folder on every floor.
@Suite("Folders")
struct FolderTests {
  private let tree = SourceTree()

  /// The nouns of the product: the second level of every upper floor.
  static let nouns = [
    "Activity", "Apps", "Audiences", "Certificates", "Credentials", "Devices", "Hosts", "Incidents", "JPush", "People",
    "Phones",
    "Pushes", "Receipts", "Reminders", "Retention", "Schedules", "Segments", "Settings", "SmokeTests", "Webhooks",
  ]

  /// The folders beside the nouns, each with its reason.
  static let extras: [String: [String: String]] = [
    "Sources/Model": [
      "Payload": "what a provider is sent",
      "Lint": "checks of a draft, over several nouns",
      "Dialects": "one push in the words of each service, and read back",
      "Callbacks": "which callbacks of an app a payload reaches",
      "Reasons": "providers' reasons, and what to do about each",
      "Problems": "what is said of a wrong input, over all nouns",
    ],
    "Sources/Store": ["Schema": "every table, readable at once"],
    "Sources/Console": [
      "Shell": "router, context, sign-in, errors, security headers",
      "Overview": "the start page, over all nouns",
      "Docs": "the API reference",
      "Search": "whatever a text names, over all nouns",
    ],
    "Sources/signalbox": ["Shell": "start, options and output of every command"],
    "Templates": [
      "components": "markup that pages repeat",
      "layout": "the frame of every page",
      "locales": "the texts, a file a language",
      "commands": "the texts of the command line, a file a language beside English",
      "mail": "the mails",
      "errors": "pages of errors, of no noun",
      "session": "sign-in and first start, before there is anybody",
      "overview": "the start page, over all nouns",
      "docs": "the API reference",
      "search": "whatever a text names, over all nouns",
    ],
  ]

  @Test("the second level is the closed list of nouns")
  func secondLevel() throws {
    let violations = try Self.extras.flatMap { floor, extras in
      let nouns = floor == "Templates" ? Self.nouns.map { $0.lowercased() } : Self.nouns
      return try tree.folders(in: floor).filter { !nouns.contains($0) && extras[$0] == nil }
        .map { Violation(place: floor + "/" + $0, what: "neither a noun nor one of its extras") }
    }
    KnownExceptions.expectNone(but: .folder, violations)
  }

  @Test("the tables of a noun, and their later changes, are one file")
  func schema() throws {
    let files = try tree.files(in: "Sources/Store/Schema").map { $0.name.dropLast(".swift".count) }
    let names = files.filter { $0 != "Schema" }.map { $0.dropFirst("Schema+".count) }
    #expect(names.count > 10)
    let strangers = names.filter { !Self.nouns.contains(String($0)) }
    #expect(strangers == [], "not a noun")
  }

  @Test("tests lie where the room lies")
  func tests() throws {
    // Whole processes, the browser, others' programs, what several rooms share, hostile bytes for all of them, and these
    // tests have no room.
    let ownRooms: Set = ["Browser", "Fuzzing", "Integration", "Interop", "Structure", "Support"]
    let rooms = try Set(tree.folders(in: "Sources"))
    for room in try tree.folders(in: "Tests") where !ownRooms.contains(room) {
      #expect(rooms.contains(room), "Tests/\(room) has no room in Sources")
      // Data, the scenes that several suites play in, and other programs as peers.
      let beside: Set = ["Fixtures", "Interop", "Scene"]
      let inside = try Set(tree.folders(in: "Tests/" + room)).subtracting(beside)
      #expect(inside.subtracting(try tree.folders(in: "Sources/" + room)) == [], "in Tests/\(room), not in Sources")
    }
    for room in rooms {
      // `PhoneBookTests.swift` is in `Phones`, as `PhoneBook.swift` is.
      let sources = try tree.files(in: "Sources/" + room).map { $0.path.dropFirst("Sources/\(room)/".count) }
      let above = Set(sources.filter { !$0.contains("/") }.compactMap { $0.split(separator: ".").first })
      let below = Set(sources.filter { $0.contains("/") }.compactMap { $0.split(separator: "/").last?.dropLast(6) })
      let tests = try tree.files(in: "Tests/" + room).filter { $0.name.hasSuffix("Tests.swift") }
      for file in tests where file.path == "Tests/\(room)/\(file.name)" {
        let subject = file.name.dropLast("Tests.swift".count)
        #expect(!below.contains(subject) || above.contains(subject), "\(file.path) is not in the folder of its subject")
      }
    }
    let tested = try Set(tree.folders(in: "Tests"))
    for room in rooms where try !tree.files(in: "Sources/" + room).isEmpty && room != "signalbox" {
      #expect(tested.contains(room), "Sources/\(room) has no tests; only commands are tested by Tests/Integration")
    }
  }
}
