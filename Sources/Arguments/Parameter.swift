package import Text

/// What a command takes, whatever the type of its value: for parsing and for the help.
package struct Parameter: Sendable {
  enum Kind: Sendable, Equatable {
    /// `--name value`, or only from the environment.
    case option(onlyFromEnvironment: Bool)
    /// `--name`, and perhaps `--no-name`.
    case flag(isInvertible: Bool)
    /// A value by its position.
    case argument
  }

  let kind: Kind
  /// As `listen-address`: without dashes before it.
  let name: String
  /// What stands for the value in the help.
  let label: String
  let help: String
  let defaultText: String?
  let isRequired: Bool
  let isRepeated: Bool
  let reading: Reading
  /// Whether it says how the program is set up, and so may stand in the environment.
  var isConfiguration = false
  /// The values that there are, for completion; empty: any.
  var choices: [String] = []

  /// As it is written on the command line.
  var spelling: String {
    switch kind {
    case .option(onlyFromEnvironment: true): name
    case .option: "--\(name) <\(label)>"
    case .flag(isInvertible: true): "--\(name)/--no-\(name)"
    case .flag: "--\(name)"
    case .argument: "<\(label)>" + (isRepeated ? " ..." : "")
    }
  }
}

/// Makes a parameter's value from what was given, in order; empty: nothing was given.
struct Reading: Sendable {
  let read: @Sendable ([String]) throws(BadValue) -> any Sendable

  /// The last counts; `value`: if there is none, nil: then there must be one.
  static func last<Value: Sendable>(
    _ parse: @escaping @Sendable (String) throws(BadValue) -> Value, else value: Value?
  ) -> Reading {
    Reading { texts throws(BadValue) in
      if let last = texts.last { return try parse(last) }
      guard let value else { throw BadValue("is missing") }
      return value
    }
  }

  /// All count.
  static func all<Element: Sendable>(
    _ parse: @escaping @Sendable (String) throws(BadValue) -> Element
  ) -> Reading {
    Reading { texts throws(BadValue) in
      var elements: [Element] = []
      for text in texts { elements.append(try parse(text)) }
      return elements
    }
  }
}

/// Why a value is not taken; what a parameter's closure throws. Reads on after “The value “x” of --name”.
package struct BadValue: Error, Sendable, Hashable {
  /// As `is not a number of days, such as 30d`.
  package let reason: Message

  /// Says why.
  package init(_ reason: Message) { self.reason = reason }
}
