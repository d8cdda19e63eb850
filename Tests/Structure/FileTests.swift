import Testing

@Suite("Files")
struct FileTests {
  private let tree = SourceTree()

  private static let keywords: Set<Substring> = [
    "struct", "class", "enum", "actor", "protocol", "extension", "typealias", "func", "var", "let",
  ]

  /// What a file declares or extends: `Phone`, `PhoneBook`, and each part of `PhoneBook.Entry`; its functions as well.
  private static func declared(in file: SourceTree.File) -> Set<String> {
    var names: Set<String> = []
    for line in file.lines where !line.hasPrefix("    ") && !line.hasPrefix("//") {
      let words = line.split(separator: " ", maxSplits: 6)
      guard let keyword = words.firstIndex(where: keywords.contains), keyword + 1 < words.count else { continue }
      let name = words[keyword + 1].prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" }
      names.formUnion(name.split(separator: ".").map(String.init))
    }
    return names
  }

  /// A file's name is that of a type, or of a function, that is declared or extended in it; `Type+Topic.swift` holds more
  /// of a type, and `<Noun>Views.swift` several small views.
  @Test("a file is named after what it holds")
  func names() throws {
    let files = try (tree.files(in: "Sources") + tree.files(in: "Tests"))
      .map { (file: $0, names: Self.declared(in: $0)) }
    let everywhere = files.reduce(into: Set<String>()) { $0.formUnion($1.names) }
    let violations = files.compactMap { file, names -> Violation? in
      let parts = file.name.dropLast(".swift".count).split(separator: "+").map(String.init)
      if parts == ["main"] { return nil }
      guard (1...2).contains(parts.count), parts.allSatisfy({ $0.first?.isUppercase == true }) else {
        return Violation(place: file.name, what: "neither <Noun><Role> nor Type+Topic")
      }
      if parts.count == 2 {
        return everywhere.contains(parts[0]) ? nil : Violation(place: file.name, what: "there is no \(parts[0])")
      }
      let function = parts[0].prefix(1).lowercased() + parts[0].dropFirst()
      // The small views of a page or two stand together.
      let holdsViews =
        parts[0].hasSuffix("Views") && names.count { $0.hasSuffix("View") || $0.hasSuffix("Row") } > 1
      return names.contains(parts[0]) || names.contains(function) || holdsViews
        ? nil : Violation(place: file.name, what: "holds no \(parts[0])")
    }
    KnownExceptions.expectNone(but: .fileName, violations)
  }

  /// What the code of a file in a room contains, and how its name must end then.
  struct Role: CustomTestStringConvertible {
    let room: String
    let sign: String
    let endings: [String]
    /// Folders and files of the room that are about all its nouns.
    let framework: String
    var testDescription: String { room }

    static let all = [
      Role(
        room: "Sources/Console", sign: "to routes: inout ConsoleRouter",
        endings: ["Page", "Pages", "API", "Routes", "Gate"], framework: "Sources/Console/Shell/"),
      Role(
        room: "Sources/signalbox", sign: "Command<Action>(", endings: ["Command", "Commands"],
        framework: "Sources/signalbox/Signalbox.swift"),
    ]
  }

  /// Whoever looks for a route or a command finds its file by the name alone.
  @Test("routes and commands stand in files that are named so", arguments: Role.all)
  func roles(_ role: Role) throws {
    let holders = try tree.files(in: role.room).filter {
      $0.text.contains(role.sign) && !$0.path.hasPrefix(role.framework)
    }
    #expect(holders.count > 20, "the sign is another by now")
    let violations = holders.compactMap { file -> Violation? in
      let name = file.name.dropLast(".swift".count)
      return role.endings.contains(where: name.hasSuffix)
        ? nil : Violation(place: file.name, what: "its name ends in none of \(role.endings)")
    }
    KnownExceptions.expectNone(but: .role, violations)
  }

  @Test("no name is a riddle")
  func wording() throws {
    let riddles = ["needs", "facts", "manners", "passport"]
    let paths = try ["Sources", "Tests", "Templates"].flatMap(tree.paths(in:))
    let violations = paths.compactMap { path -> Violation? in
      let name = path.split(separator: "/").last.map(String.init) ?? path
      guard riddles.contains(where: name.lowercased().contains) else { return nil }
      return Violation(place: name, what: "say what is inside")
    }
    KnownExceptions.expectNone(but: .wording, violations)
  }

  @Test("no line of a template is over 120 columns")
  func columns() throws {
    let violations = try tree.files(in: "Templates", endings: ["mustache"]).compactMap { file -> Violation? in
      let long = file.lines.indices.filter { file.lines[$0].count > 120 }
      return long.first.map { Violation(place: file.path, what: "\(long.count) long lines, the first is \($0 + 1)") }
    }
    KnownExceptions.expectNone(but: .templateColumns, violations)
  }

  @Test("no file has over 300 lines of code")
  func length() throws {
    let violations = try tree.files(in: "Sources").compactMap { file -> Violation? in
      let code = file.lines.lazy.map { $0.drop { $0 == " " } }.filter { !$0.isEmpty && !$0.hasPrefix("//") }.count
      return code > 300 ? Violation(place: file.name, what: "\(code) lines of code") : nil
    }
    KnownExceptions.expectNone(but: .codeLines, violations)
  }
}
