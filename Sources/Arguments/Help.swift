private let width = 100
/// The column of explanations.
private let column = 30

extension Program {
  /// Options of every command.
  static var everywhere: [(String, String)] {
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

  func help(_ path: [Command<Action>]) -> String {
    guard let command = path.last else { return "" }
    var sections: [String] = []
    let overview = [command.summary, command.discussion].filter { !$0.isEmpty }
    if let first = overview.first {
      sections.append(wrapped("OVERVIEW: " + first, indent: 0))
      sections += overview.dropFirst().map { text in
        text.split(separator: "\n", omittingEmptySubsequences: false).map { wrapped(String($0), indent: 0) }
          .joined(separator: "\n")
      }
    }
    sections.append(wrapped("USAGE: " + usage(path), indent: 0, further: 7))
    let groups = groups(command)
    for (title, rows) in groups where !rows.isEmpty {
      sections.append("\(title):\n" + rows.map { row($0.0, $0.1) }.joined(separator: "\n"))
    }
    var text = sections.joined(separator: "\n\n")
    if !command.subcommands.isEmpty {
      let words = ([path[0].name, "help"] + path.dropFirst().map(\.name)).joined(separator: " ")
      text += "\n\n  See '\(words) <subcommand>' for detailed help."
    }
    return text
  }

  /// Help, default and environment variable of a parameter.
  func explanation(_ parameter: Parameter) -> String {
    let standard = parameter.defaultText.flatMap { $0.isEmpty ? nil : "default: \($0)" }
    let notes = [standard, variable(parameter).map { "env: \($0)" }].compactMap { $0 }
    return parameter.help + (notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))")
  }

  private func groups(_ command: Command<Action>) -> [(String, [(String, String)])] {
    var arguments: [(String, String)] = []
    var options: [(String, String)] = []
    var variables: [(String, String)] = []
    for parameter in command.parameters {
      switch parameter.kind {
      case .argument: arguments.append((parameter.spelling, parameter.help))
      case .option(onlyFromEnvironment: true): variables.append((variable(parameter) ?? "", parameter.help))
      default:
        options.append((parameter.spelling, explanation(parameter)))
      }
    }
    options += Self.everywhere
    return [
      ("ARGUMENTS", arguments), ("OPTIONS", options), ("ENVIRONMENT", variables),
      ("SUBCOMMANDS", command.subcommands.map { ($0.name, $0.summary) }),
    ]
  }
}

private func row(_ name: String, _ text: String) -> String {
  let head = "  " + name
  // At least two blanks between a name and its explanation, or a line of its own.
  guard head.count > column - 2 else {
    let gap = String(repeating: " ", count: column - head.count)
    return head + gap + String(wrapped(text, indent: column).dropFirst(column))
  }
  return head + "\n" + wrapped(text, indent: column)
}

/// Wraps text at words; `further`: the indent of the lines after the first.
private func wrapped(_ text: String, indent: Int, further: Int? = nil) -> String {
  var lines = [String(repeating: " ", count: indent)]
  var count = indent
  var isFirst = true
  for word in text.split(separator: " ") {
    if !isFirst, count + 1 + word.count > width {
      let margin = String(repeating: " ", count: further ?? indent)
      lines.append(margin + word)
      count = margin.count + word.count
    } else {
      lines[lines.count - 1] += (isFirst ? "" : " ") + word
      count += (isFirst ? 0 : 1) + word.count
    }
    isFirst = false
  }
  return lines.joined(separator: "\n")
}
