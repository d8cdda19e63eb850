import Text

/// An option with a value, `--name value` or `--name=value`.
package struct Option<Value: Sendable>: Sendable {
  /// For a command's list.
  package private(set) var parameter: Parameter

  private init(
    _ name: String, _ label: String, _ help: String, onlyFromEnvironment: Bool = false, showing text: String? = nil,
    isRequired: Bool = false, isRepeated: Bool = false, _ reading: Reading
  ) {
    parameter = Parameter(
      kind: .option(onlyFromEnvironment: onlyFromEnvironment), name: name, label: label, help: help,
      defaultText: text, isRequired: isRequired, isRepeated: isRepeated, reading: reading)
  }

  /// An option that has a value even if it is not given; `text`: how the help shows that.
  package init(
    _ name: String, _ label: String, _ help: String, default value: Value, showing text: String,
    _ parse: @escaping @Sendable (String) throws(BadValue) -> Value
  ) { self.init(name, label, help, showing: text, .last(parse, else: value)) }

  /// An option that must be given.
  package init(
    required name: String, _ label: String, _ help: String,
    _ parse: @escaping @Sendable (String) throws(BadValue) -> Value
  ) { self.init(name, label, help, isRequired: true, .last(parse, else: nil)) }

  /// An option that may be left out.
  package init<Wrapped: Sendable>(
    _ name: String, _ label: String, _ help: String, onlyFromEnvironment: Bool = false,
    _ parse: @escaping @Sendable (String) throws(BadValue) -> Wrapped
  ) where Value == Wrapped? {
    self.init(
      name, label, help, onlyFromEnvironment: onlyFromEnvironment,
      .last({ text throws(BadValue) in .some(try parse(text)) }, else: .some(Wrapped?.none)))
  }

  /// An option that may be given several times; a configuration is separated by commas in the environment.
  package init<Element: Sendable>(
    repeated name: String, _ label: String, _ help: String,
    _ parse: @escaping @Sendable (String) throws(BadValue) -> Element
  ) where Value == [Element] { self.init(name, label, help, isRepeated: true, .all(parse)) }

  /// The same, and also `PREFIX_NAME` in the environment: it says how the program is set up, not what it is to do.
  package var configuration: Option {
    var copy = self
    copy.parameter.isConfiguration = true
    return copy
  }

  /// The same, of which completion knows the values.
  package func among(_ choices: [String]) -> Option {
    var copy = self
    copy.parameter.choices = choices
    return copy
  }
}

extension Option where Value == String {
  /// A text with a default.
  package init(_ name: String, _ label: String, _ help: String, default value: String) {
    self.init(name, label, help, default: value, showing: value) { $0 }
  }
  package init(required name: String, _ label: String, _ help: String) { self.init(required: name, label, help) { $0 } }
}

extension Option where Value == String? {
  /// A text that may be left out.
  package init(_ name: String, _ label: String, _ help: String, onlyFromEnvironment: Bool = false) {
    self.init(name, label, help, onlyFromEnvironment: onlyFromEnvironment) { $0 }
  }
}

extension Option where Value == [String] {
  /// Texts.
  package init(repeated name: String, _ label: String, _ help: String) { self.init(repeated: name, label, help) { $0 } }
}

/// Something that is said or not: `--name`.
package struct Flag: Sendable {
  /// For a command's list.
  package private(set) var parameter: Parameter

  /// - Parameter default: true: there is `--no-name` too.
  package init(_ name: String, _ help: String, default value: Bool = false) {
    let words = [
      "1": true, "true": true, "yes": true, "on": true, "0": false, "false": false, "no": false, "off": false,
    ]
    parameter = Parameter(
      kind: .flag(isInvertible: value), name: name, label: name, help: help, defaultText: value ? "--\(name)" : nil,
      isRequired: false, isRepeated: false,
      reading: .last(
        { text throws(BadValue) in
          guard let isSet = words[text.lowercased()] else { throw BadValue("is neither true nor false") }
          return isSet
        }, else: value))
  }

  /// The same, and also `PREFIX_NAME=1` in the environment: it says how the program is set up, not what it is to do.
  package var configuration: Flag {
    var copy = self
    copy.parameter.isConfiguration = true
    return copy
  }
}

/// A value that is known by its position.
package struct Argument<Value: Sendable>: Sendable {
  /// For a command's list.
  package private(set) var parameter: Parameter

  private init(_ label: String, _ help: String, isRequired: Bool, isRepeated: Bool = false, _ reading: Reading) {
    parameter = Parameter(
      kind: .argument, name: label, label: label, help: help, defaultText: nil, isRequired: isRequired,
      isRepeated: isRepeated, reading: reading)
  }

  /// One value that must be given.
  package init(_ label: String, _ help: String, _ parse: @escaping @Sendable (String) throws(BadValue) -> Value) {
    self.init(label, help, isRequired: true, .last(parse, else: nil))
  }

  /// The same, of which completion knows the values.
  package func among(_ choices: [String]) -> Argument {
    var copy = self
    copy.parameter.choices = choices
    return copy
  }
}

extension Argument where Value == String {
  package init(_ label: String, _ help: String) { self.init(label, help) { $0 } }
}

extension Argument where Value == [String] {
  /// All the rest; `atLeastOne`: and there must be some.
  package init(rest label: String, _ help: String, atLeastOne: Bool) {
    self.init(label, help, isRequired: atLeastOne, isRepeated: true, .all { $0 })
  }
}
