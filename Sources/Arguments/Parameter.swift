/// What a command takes, whatever the type of its value: for parsing and for the help.
public struct Parameter: Sendable {
  enum Kind: Sendable {
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
  /// Makes the value from what was given, in order; empty: nothing was given.
  let read: @Sendable ([String]) throws(BadValue) -> any Sendable

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

/// Why a value is not taken; what a parameter's closure throws. Reads on after “The value “x” for --name”.
public struct BadValue: Error, Sendable, Hashable {
  /// As `is not a number of days, such as 30d`.
  public let reason: String

  /// Says why.
  public init(_ reason: String) { self.reason = reason }
}
