import Text

private let width = 100
/// The column of explanations.
private let column = 30

extension Program {
  /// Options of every command.
  static var everywhere: [(String, Message)] {
    [("--version", "Show the version."), ("-h, --help", "Show help information.")]
  }

  func usage(_ path: [Command<Action>]) -> String {
    let words = name(path)
    guard let command = path.last, command.action != nil else { return "\(words) <subcommand>" }
    let parts = command.parameters.compactMap { parameter -> String? in
      switch parameter.kind {
      case .option(onlyFromEnvironment: true): return nil
      case .flag(isInvertible: true): return "[--no-\(parameter.name)]"
      default:
        let text = parameter.spelling
        let dots = parameter.isRepeated && !text.hasSuffix("...") ? " ..." : ""
        return (parameter.isRequired ? text : "[\(text)]") + dots
      }
    }
    return ([words] + parts).joined(separator: " ")
  }

  /// - Parameter translation: nil: in English.
  func help(_ path: [Command<Action>], in translation: (any Translation)?) -> String {
    guard let command = path.last else { return "" }
    func text(_ message: Message) -> String { message.text(in: translation) }
    func text(_ english: String) -> String { translation?.sentence(english) ?? english }
    var sections: [String] = []
    let overview = [command.summary, command.discussion].filter { !$0.isEmpty }.map(text)
    if let first = overview.first {
      sections.append(text("OVERVIEW: \(first)" as Message).wrapped(to: width, indent: 0))
      sections += overview.dropFirst().map { text in
        text.split(separator: "\n", omittingEmptySubsequences: false)
          .map { String($0).wrapped(to: width, indent: 0) }.joined(separator: "\n")
      }
    }
    sections.append(text("USAGE: \(usage(path))" as Message).wrapped(to: width, indent: 0, further: 7))
    let groups = groups(command, in: translation)
    for (title, rows) in groups where !rows.isEmpty {
      sections.append(text(title) + "\n" + rows.map { row($0.0, $0.1) }.joined(separator: "\n"))
    }
    if !command.subcommands.isEmpty {
      let words = ([path[0].name, "help"] + path.dropFirst().map(\.name)).joined(separator: " ")
      sections.append("  " + text("See '\(words) <subcommand>' for detailed help." as Message))
    }
    return sections.joined(separator: "\n\n")
  }

  /// Help, default and environment variable of a parameter.
  func explanation(_ parameter: Parameter, in translation: (any Translation)? = nil) -> String {
    func text(_ english: String) -> String { translation?.sentence(english) ?? english }
    // A value stays as it is typed, even if messages have the same word; a default with words is explained.
    let shown = parameter.defaultText.map { $0.contains(" ") ? text($0) : $0 }
    let standard = shown.flatMap { $0.isEmpty ? nil : "default: \($0)" as Message }
    let notes: [Message] = [standard, variable(parameter).map { "env: \($0)" }].compactMap { $0 }
    let help = text(parameter.help)
    let explained: Message =
      switch notes.count {
      case 0: "\(help)"
      case 1: "\(help) (\(notes[0]))"
      default: "\(help) (\(notes[0]); \(notes[1]))"
      }
    return explained.text(in: translation)
  }

  private func groups(
    _ command: Command<Action>, in translation: (any Translation)?
  ) -> [(Message, [(String, String)])] {
    func text(_ english: String) -> String { translation?.sentence(english) ?? english }
    var arguments: [(String, String)] = []
    var options: [(String, String)] = []
    var variables: [(String, String)] = []
    for parameter in command.parameters {
      switch parameter.kind {
      case .argument: arguments.append((parameter.spelling, text(parameter.help)))
      case .option(onlyFromEnvironment: true): variables.append((variable(parameter) ?? "", text(parameter.help)))
      default:
        options.append((parameter.spelling, explanation(parameter, in: translation)))
      }
    }
    options += Self.everywhere.map { ($0, $1.text(in: translation)) }
    return [
      ("ARGUMENTS:", arguments), ("OPTIONS:", options), ("ENVIRONMENT:", variables),
      ("SUBCOMMANDS:", command.subcommands.map { ($0.name, text($0.summary)) }),
    ]
  }
}

private func row(_ name: String, _ text: String) -> String {
  let head = "  " + name
  // At least two blanks between a name and its explanation, or a line of its own.
  guard head.count > column - 2 else {
    let gap = String(repeating: " ", count: column - head.count)
    return head + gap + String(text.wrapped(to: width, indent: column).dropFirst(column))
  }
  return head + "\n" + text.wrapped(to: width, indent: column)
}
