/// A command: what it takes and what it does, or the commands below it.
///
/// `Action` is what the program runs for a leaf; this room never calls it.
package struct Command<Action: Sendable>: Sendable {
  /// As it is typed.
  package let name: String
  /// One line.
  package let summary: String
  /// More, for the help; empty: nothing.
  package let discussion: String
  let parameters: [Parameter]
  let subcommands: [Command]
  /// Nil: it only holds other commands.
  package let action: Action?

  /// A command that does something.
  package init(
    _ name: String, _ summary: String, discussion: String = "", parameters: [Parameter] = [], action: Action
  ) {
    self.name = name
    self.summary = summary
    self.discussion = discussion
    self.parameters = parameters
    self.subcommands = []
    self.action = action
  }

  /// A command that holds others.
  package init(_ name: String, _ summary: String, discussion: String = "", subcommands: [Command]) {
    self.name = name
    self.summary = summary
    self.discussion = discussion
    self.parameters = []
    self.subcommands = subcommands
    self.action = nil
  }
}

/// The values of a command's parameters.
package struct Parsed: Sendable {
  /// The command as it is called, as `signalbox apps list`.
  package let command: String
  let values: [String: any Sendable]

  /// The value of an option of the command.
  package subscript<Value: Sendable>(option: Option<Value>) -> Value { value(option.parameter.name) }
  /// Whether a flag of the command is set.
  package subscript(flag: Flag) -> Bool { value(flag.parameter.name) }
  /// The value of an argument of the command.
  package subscript<Value: Sendable>(argument: Argument<Value>) -> Value { value(argument.parameter.name) }

  private func value<Value>(_ name: String) -> Value {
    guard let found = values[name], let value = found as? Value else {
      preconditionFailure("the command does not declare \(name)")
    }
    return value
  }
}

/// The command line is wrong.
package struct UsageError: Error, Sendable, Hashable {
  /// What is wrong, as a sentence, perhaps with a suggestion.
  package let message: String
  /// The command that was called, as `signalbox apps list`: its help says how it is to be called.
  package let command: String
}
