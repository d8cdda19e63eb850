package import Text

/// A program: its commands, and the prefix of its environment variables.
package struct Program<Action: Sendable>: Sendable {
  /// What a command line asks for.
  package enum Request: Sendable {
    /// Show this on standard output, and be done.
    case show(String)
    /// Run this with these values.
    case run(Action, Parsed)
  }

  /// Its commands, and what it is called.
  package let root: Command<Action>
  let version: String
  let prefix: String

  /// - Parameter prefix: as `SIGNALBOX`: `--data` is `SIGNALBOX_DATA` too.
  package init(_ root: Command<Action>, version: String, environmentPrefix prefix: String) {
    self.root = root
    self.version = version
    self.prefix = prefix
  }

  /// Reads a command line, without the program's own name. Reads and writes nothing else.
  ///
  /// - Parameter translation: the language of the help; nil: English.
  package func parse(
    _ arguments: [String], environment: [String: String], in translation: (any Translation)? = nil
  ) throws(UsageError) -> Request {
    var path = [root]
    var rest = arguments[...]
    while let command = path.last, command.action == nil {
      guard let word = rest.popFirst() else { throw UsageError("Missing command.", name(path)) }
      if word == "--help" || word == "-h" { return .show(help(path, in: translation)) }
      if word == "--version" { return .show(version) }
      if word == "help", path.count == 1 {
        return .show(help(try descend(from: path, by: rest), in: translation))
      }
      path = try step(from: path, to: word)
    }
    guard let command = path.last, let action = command.action else {
      throw UsageError("Missing command.", name(path))
    }
    var reader = Reader(parameters: command.parameters, command: name(path))
    guard let given = try reader.read(rest) else {
      return .show(rest.contains("--version") ? version : help(path, in: translation))
    }
    return .run(action, try values(command, given, environment, path))
  }

  /// A command as it is called.
  func name(_ path: [Command<Action>]) -> String { path.map(\.name).joined(separator: " ") }

  private func descend(
    from path: [Command<Action>], by words: ArraySlice<String>
  ) throws(UsageError) -> [Command<Action>] {
    var path = path
    for word in words { path = try step(from: path, to: word) }
    return path
  }

  private func step(from path: [Command<Action>], to word: String) throws(UsageError) -> [Command<Action>] {
    let choices = path.last?.subcommands ?? []
    if let next = choices.first(where: { $0.name == word }) { return path + [next] }
    guard !word.hasPrefix("-") else {
      throw UsageError("Unknown option “\(word)”. Options go after the command.", name(path))
    }
    throw UsageError("Unknown command “\(word)”.\(suggestion(for: word, among: choices.map(\.name)))", name(path))
  }

  private func values(
    _ command: Command<Action>, _ given: [String: [String]], _ environment: [String: String], _ path: [Command<Action>]
  ) throws(UsageError) -> Parsed {
    var values: [String: any Sendable] = [:]
    for parameter in command.parameters {
      var texts = given[parameter.name] ?? []
      var source = parameter.spelling
      let variable = variable(parameter)
      if texts.isEmpty, let variable, let text = environment[variable], !text.isEmpty {
        texts = parameter.isRepeated ? text.split(separator: ",").map(String.init) : [text]
        source = variable
      }
      if texts.isEmpty, parameter.isRequired {
        throw UsageError("Missing argument \(parameter.spelling).", name(path))
      }
      do throws(BadValue) {
        values[parameter.name] = try parameter.reading.read(texts)
      } catch {
        let value = texts.last ?? ""
        throw UsageError("Invalid value “\(value)” for \(source): it \(error.reason).", name(path))
      }
    }
    return Parsed(command: name(path), values: values)
  }

  /// The environment variable that does the same; nil for all that is no configuration: what is done, and to whom, is
  /// said on the command line alone, whatever the environment was left with.
  func variable(_ parameter: Parameter) -> String? {
    guard parameter.isConfiguration || parameter.kind == .option(onlyFromEnvironment: true) else { return nil }
    return prefix + "_" + parameter.name.uppercased().replacing("-", with: "_")
  }
}

extension UsageError {
  init(_ message: Message, _ command: String) {
    self.message = message
    self.command = command
  }
}
