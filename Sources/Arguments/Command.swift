package import Text

/// A command: its parameters and action, or its subcommands.
///
/// `Action` is chosen by the program; this room never calls it.
package struct Command<Action: Sendable>: Sendable {
  package let name: String
  /// One line.
  package let summary: String
  /// More text for the help; may be empty.
  package let discussion: String
  let parameters: [Parameter]
  let subcommands: [Command]
  /// Nil: it only has subcommands.
  package let action: Action?

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
  /// The full command, such as `signalbox apps list`.
  package let command: String
  let values: [String: any Sendable]

  package subscript<Value: Sendable>(option: Option<Value>) -> Value { value(option.parameter.name) }
  /// Nil: the command does not declare the option.
  package subscript<Value: Sendable>(ifDeclared option: Option<Value>) -> Value? {
    values[option.parameter.name] as? Value
  }
  package subscript(flag: Flag) -> Bool { value(flag.parameter.name) }
  package subscript<Value: Sendable>(argument: Argument<Value>) -> Value { value(argument.parameter.name) }

  private func value<Value>(_ name: String) -> Value {
    guard let found = values[name], let value = found as? Value else {
      preconditionFailure("the command does not declare \(name)")
    }
    return value
  }
}

package struct UsageError: Error, Sendable, Hashable {
  /// A sentence, sometimes with a suggestion.
  package let message: Message
  /// The full command, such as `signalbox apps list`, whose help explains the usage.
  package let command: String
}
