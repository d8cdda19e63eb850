/// An option with a value, `--name value` or `--name=value`; also `PREFIX_NAME` in the environment.
public struct Option<Value: Sendable>: Sendable {
  /// For a command's list.
  public let parameter: Parameter

  /// An option that has a value even if it is not given.
  public init(
    _ name: String, _ label: String, _ help: String, default value: Value, showing text: String,
    _ parse: @escaping @Sendable (String) throws(BadValue) -> Value
  ) {
    parameter = Parameter(
      kind: .option(onlyFromEnvironment: false), name: name, label: label, help: help, defaultText: text,
      isRequired: false, isRepeated: false,
      read: { texts throws(BadValue) in
        guard let last = texts.last else { return value }
        return try parse(last)
      })
  }

  /// An option that must be given.
  public init(
    required name: String, _ label: String, _ help: String,
    _ parse: @escaping @Sendable (String) throws(BadValue) -> Value
  ) {
    parameter = Parameter(
      kind: .option(onlyFromEnvironment: false), name: name, label: label, help: help, defaultText: nil,
      isRequired: true, isRepeated: false,
      read: { texts throws(BadValue) in
        guard let last = texts.last else { throw BadValue("is missing") }
        return try parse(last)
      })
  }

  /// An option that may be left out.
  public init<Wrapped: Sendable>(
    _ name: String, _ label: String, _ help: String, onlyFromEnvironment: Bool = false,
    _ parse: @escaping @Sendable (String) throws(BadValue) -> Wrapped
  ) where Value == Wrapped? {
    parameter = Parameter(
      kind: .option(onlyFromEnvironment: onlyFromEnvironment), name: name, label: label, help: help,
      defaultText: nil, isRequired: false, isRepeated: false,
      read: { texts throws(BadValue) in
        guard let last = texts.last else { return Wrapped?.none }
        return try parse(last)
      })
  }

  /// An option that may be given several times; separated by commas in the environment.
  public init<Element: Sendable>(
    repeated name: String, _ label: String, _ help: String,
    _ parse: @escaping @Sendable (String) throws(BadValue) -> Element
  ) where Value == [Element] {
    parameter = Parameter(
      kind: .option(onlyFromEnvironment: false), name: name, label: label, help: help, defaultText: nil,
      isRequired: false, isRepeated: true, read: { texts throws(BadValue) in try all(texts, parse) })
  }
}

/// `map` keeps no typed errors with closures that are `@Sendable`.
private func all<Element>(
  _ texts: [String], _ parse: (String) throws(BadValue) -> Element
) throws(BadValue) -> [Element] {
  var elements: [Element] = []
  for text in texts { elements.append(try parse(text)) }
  return elements
}

extension Option where Value == String {
  /// A text with a default.
  public init(_ name: String, _ label: String, _ help: String, default value: String) {
    self.init(name, label, help, default: value, showing: value) { $0 }
  }

  /// A text that must be given.
  public init(required name: String, _ label: String, _ help: String) { self.init(required: name, label, help) { $0 } }
}

extension Option where Value == String? {
  /// A text that may be left out.
  public init(_ name: String, _ label: String, _ help: String, onlyFromEnvironment: Bool = false) {
    self.init(name, label, help, onlyFromEnvironment: onlyFromEnvironment) { $0 }
  }
}

extension Option where Value == [String] {
  /// Texts.
  public init(repeated name: String, _ label: String, _ help: String) { self.init(repeated: name, label, help) { $0 } }
}

/// Something that is said or not: `--name`; also `PREFIX_NAME=1` in the environment.
public struct Flag: Sendable {
  /// For a command's list.
  public let parameter: Parameter

  /// - Parameter default: true: there is `--no-name` too.
  public init(_ name: String, _ help: String, default value: Bool = false) {
    parameter = Parameter(
      kind: .flag(isInvertible: value), name: name, label: name, help: help, defaultText: value ? "--\(name)" : nil,
      isRequired: false, isRepeated: false,
      read: { texts throws(BadValue) in
        switch texts.last?.lowercased() {
        case nil: return value
        case "1", "true", "yes", "on": return true
        case "0", "false", "no", "off": return false
        default: throw BadValue("is neither true nor false")
        }
      })
  }
}

/// A value that is known by its position.
public struct Argument<Value: Sendable>: Sendable {
  /// For a command's list.
  public let parameter: Parameter

  private init(_ label: String, _ help: String, isRequired: Bool, isRepeated: Bool, _ read: Reader) {
    parameter = Parameter(
      kind: .argument, name: label, label: label, help: help, defaultText: nil, isRequired: isRequired,
      isRepeated: isRepeated, read: read.read)
  }

  private struct Reader: Sendable { let read: @Sendable ([String]) throws(BadValue) -> any Sendable }

  /// One value that must be given.
  public init(_ label: String, _ help: String, _ parse: @escaping @Sendable (String) throws(BadValue) -> Value) {
    self.init(
      label, help, isRequired: true, isRepeated: false,
      Reader { texts throws(BadValue) in
        guard let last = texts.last else { throw BadValue("is missing") }
        return try parse(last)
      })
  }
}

extension Argument where Value == String {
  /// A text that must be given.
  public init(_ label: String, _ help: String) { self.init(label, help) { $0 } }
}

extension Argument where Value == String? {
  /// A text that may be left out.
  public init(optional label: String, _ help: String) {
    self.init(label, help, isRequired: false, isRepeated: false, Reader { texts throws(BadValue) in texts.last })
  }
}

extension Argument where Value == [String] {
  /// All the rest; `atLeastOne`: and there must be some.
  public init(rest label: String, _ help: String, atLeastOne: Bool) {
    self.init(
      label, help, isRequired: atLeastOne, isRepeated: true, Reader { texts throws(BadValue) in texts })
  }
}
