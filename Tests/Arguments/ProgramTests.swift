import Testing
import Text

@testable import Arguments

private let data = Option("data", "dir", "Where everything is.", default: "./data").configuration
private let days = Option<Int>("within", "days", "How far to look.", default: 30, showing: "30d") {
  text throws(BadValue) in
  guard text.hasSuffix("d"), let days = Int(text.dropLast()) else {
    throw BadValue("is not a number of days, such as 30d")
  }
  return days
}
private let tags = Option(repeated: "tag", "name", "Devices with this tag.")
private let trusted = Option(repeated: "trust", "name", "Who is trusted.").configuration
private let app = Option(required: "app", "id", "The app.")
private let alias = Option<String?>("alias", "name", "A user.")
private let secret = Option<String?>("pass-word", "text", "Opens the file.", onlyFromEnvironment: true)
private let isJSON = Flag("json", "For programs.")
private let isColoured = Flag("color", "With colours.", default: true).configuration
private let file = Argument<String>("file", "The file.")
private let more = Argument<[String]>(rest: "more", "Further files.", atLeastOne: false)

private let program = Program(
  Command(
    "box", "Keeps things.",
    subcommands: [
      Command(
        "look", "Looks at a file.", discussion: "Writes nothing.",
        parameters: [
          file.parameter, more.parameter, data.parameter, days.parameter, isJSON.parameter, isColoured.parameter,
          secret.parameter,
        ], action: "look"),
      Command(
        "things", "All about things.",
        subcommands: [
          Command(
            "import", "Takes things in.",
            parameters: [app.parameter, tags.parameter, alias.parameter, trusted.parameter],
            action: "i"),
          Command("export", "Gives things out.", action: "e"),
        ]),
    ]), version: "1.2.3", environmentPrefix: "BOX")

/// The action and values of a command line that must be right.
private func run(_ words: [String], _ environment: [String: String] = [:]) throws -> (String, Parsed)? {
  guard case .run(let action, let values) = try program.parse(words, environment: environment) else { return nil }
  return (action, values)
}

private func shown(_ words: [String]) throws -> String? {
  guard case .show(let text) = try program.parse(words, environment: [:]) else { return nil }
  return text
}

@Suite("Command line")
struct ProgramTests {
  @Test("options, flags and arguments come in any order; --name value is --name=value")
  func values() throws {
    let (action, values) = try #require(
      try run(["look", "--json", "a.pem", "--data=/x=y", "--within", "7d", "b", "-"]))
    #expect(action == "look")
    #expect(values[file] == "a.pem" && values[more] == ["b", "-"])
    #expect(values[data] == "/x=y" && values[days] == 7 && values[isJSON])
  }

  @Test("missing options have their defaults")
  func defaults() throws {
    let (_, values) = try #require(try run(["look", "a"]))
    #expect(values[data] == "./data" && values[days] == 30 && !values[isJSON] && values[isColoured])
    #expect(values[secret] == nil && values[more].isEmpty)
    #expect(try run(["look", "a", "--no-color"])?.1[isColoured] == false)
  }

  @Test("after -- nothing is an option")
  func end() throws {
    #expect(try run(["look", "--", "--json"])?.1[file] == "--json")
    #expect(try run(["look", "a", "--data=--json"])?.1[data] == "--json")
  }

  @Test("an option may be repeated where that means something, also in the environment")
  func repeated() throws {
    let (_, values) = try #require(try run(["things", "import", "--tag", "a", "--app", "x", "--tag=b"]))
    #expect(values[tags] == ["a", "b"] && values[app] == "x" && values[alias] == nil)
    let (_, other) = try #require(try run(["things", "import", "--app", "y"], ["BOX_TRUST": "c,d"]))
    #expect(other[trusted] == ["c", "d"])
  }

  @Test("only configuration comes from the environment; actions and their targets must be typed")
  func unheard() throws {
    let environment = ["BOX_APP": "y", "BOX_TAG": "c", "BOX_ALIAS": "z", "BOX_JSON": "1", "BOX_WITHIN": "7d"]
    let error = #expect(throws: UsageError.self) { try program.parse(["things", "import"], environment: environment) }
    #expect(error?.message == "Missing argument --app <id>.")
    let (_, values) = try #require(try run(["things", "import", "--app", "x"], environment))
    #expect(values[app] == "x" && values[tags].isEmpty && values[alias] == nil)
    let (_, look) = try #require(try run(["look", "a"], environment))
    #expect(!look[isJSON] && look[days] == 30)
  }

  @Test("typed values override the environment; dashes are underscores there")
  func environment() throws {
    let environment = ["BOX_DATA": "/e", "BOX_COLOR": "0", "BOX_PASS_WORD": "p", "BOX_FILE": "no"]
    let (_, values) = try #require(try run(["look", "a", "--data", "/t"], environment))
    #expect(values[data] == "/t" && !values[isColoured] && values[secret] == "p")
    #expect(try run(["look", "a"], environment)?.1[data] == "/e")
  }

  @Test(
    "what is wrong is said, with what may have been meant",
    arguments: [
      ([], "Missing command.", "box"),
      (["lokk"], "Unknown command “lokk”. Did you mean “look”?", "box"),
      (["imp"], "Unknown command “imp”.", "box"),
      (["things", "imp"], "Unknown command “imp”. Did you mean “import”?", "box things"),
      (["--data", "x"], "Unknown option “--data”. Options go after the command.", "box"),
      (["things", "export", "x"], "Unexpected argument “x”.", "box things export"),
      (["things", "export", "--app", "x"], "Unknown option “--app”.", "box things export"),
      (["things", "export", "--hlep"], "Unknown option “--hlep”. Did you mean “--help”?", "box things export"),
      (["things", "import"], "Missing argument --app <id>.", "box things import"),
    ])
  func mistakes(words: [String], message: String, command: String) {
    #expect(throws: UsageError("\(message)", command)) { try program.parse(words, environment: [:]) }
  }

  @Test(
    "a value that is not taken is named with its place",
    arguments: [
      (
        ["look", "a", "--within", "7"],
        "Invalid value “7” for --within <days>: it is not a number of days, such as 30d."
      ),
      (["look", "a", "--within"], "--within needs a value: --within <days>"),
      (["look", "a", "--data", "--json"], "--data needs a value: --data <dir>"),
      (["look", "a", "--json=1"], "--json takes no value."),
      (["look", "a", "--data", "x", "--data", "y"], "--data was given twice."),
      (["look"], "Missing argument <file>."),
      (["look", "a", "--pass-word", "x"], "Unknown option “--pass-word”."),
      (["look", "a", "--jsn"], "Unknown option “--jsn”. Did you mean “--json”?"),
      (["look", "a", "--no-json"], "Unknown option “--no-json”. Did you mean “--json”?"),
    ])
  func badValues(words: [String], message: String) {
    #expect(throws: UsageError("\(message)", "box look")) { try program.parse(words, environment: [:]) }
  }

  @Test("a value of the environment that is not taken is named by its variable")
  func badVariable() {
    let error = #expect(throws: UsageError.self) { try program.parse(["look", "a"], environment: ["BOX_COLOR": "x"]) }
    #expect(error?.message == "Invalid value “x” for BOX_COLOR: it is neither true nor false.")
  }

  @Test(
    "every command shows the version", arguments: [["--version"], ["things", "--version"], ["look", "--version"]])
  func version(words: [String]) throws {
    #expect(try shown(words) == "1.2.3")
  }

  @Test("help is there on each level, even if something is missing")
  func help() throws {
    #expect(
      try shown(["look", "-h"]) == """
        OVERVIEW: Looks at a file.

        Writes nothing.

        USAGE: box look <file> [<more> ...] [--data <dir>] [--within <days>] [--json] [--no-color]

        ARGUMENTS:
          <file>                      The file.
          <more> ...                  Further files.

        OPTIONS:
          --data <dir>                Where everything is. (default: ./data; env: BOX_DATA)
          --within <days>             How far to look. (default: 30d)
          --json                      For programs.
          --color/--no-color          With colours. (default: --color; env: BOX_COLOR)
          --version                   Show the version.
          -h, --help                  Show help information.

        ENVIRONMENT:
          BOX_PASS_WORD               Opens the file.
        """)
    #expect(try shown(["help", "look"]) == shown(["look", "--help"]))
    #expect(
      try shown(["things", "--help"]) == """
        OVERVIEW: All about things.

        USAGE: box things <subcommand>

        OPTIONS:
          --version                   Show the version.
          -h, --help                  Show help information.

        SUBCOMMANDS:
          import                      Takes things in.
          export                      Gives things out.

          See 'box help things <subcommand>' for detailed help.
        """)
  }
}
