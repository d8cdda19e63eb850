package import JSON

/// The number on an app's icon.
package enum Badge: Sendable, Hashable, ExpressibleByIntegerLiteral {
  /// 0 removes it.
  case set(Int)
  /// Added to the number that Signalbox has counted for the device; written as text, `"+1"` or `"-1"`.
  case add(Int)

  package init(integerLiteral value: Int) { self = .set(value) }

  /// Nil for anything but a number from 0 to 99999, or a text of a sign and such a number.
  package init?(json: JSONValue) {
    if let number = json.integer.flatMap({ Int(exactly: $0) }) {
      guard PushLimits.badge.contains(number) else { return nil }
      self = .set(number)
    } else if let text = json.string, let sign = text.first, sign == "+" || sign == "-", let number = Int(text),
      (-PushLimits.badge.upperBound...PushLimits.badge.upperBound).contains(number)
    {
      self = .add(number)
    } else {
      return nil
    }
  }

  package var json: JSONValue {
    switch self {
    case .set(let number): .integer(Int64(number))
    case .add: .string(text)
    }
  }

  /// As people write it: `3`, `+1`.
  package var text: String {
    switch self {
    case .set(let number): String(number)
    case .add(let number): number < 0 ? String(number) : "+\(number)"
    }
  }

  package var isRelative: Bool { if case .add = self { true } else { false } }

  /// The number on a device's icon after this push.
  ///
  /// - Parameter count: the one before, as Signalbox has counted.
  package func number(after count: Int) -> Int {
    switch self {
    case .set(let number): number
    case .add(let number): min(max(count + number, 0), PushLimits.badge.upperBound)
    }
  }
}

/// JSON in which one number differs by device: the bytes around it.
package struct CountedBody: Sendable, Hashable {
  package let bytes: [UInt8]
  /// Where the number stands; nil: it stands nowhere.
  package let gap: Int?

  /// - Parameter body: makes the JSON with a number of one digit.
  package init(_ body: (Int) -> [UInt8]) {
    let (one, other) = (body(1), body(2))
    gap = zip(one, other).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    var bytes = one
    if let gap { bytes.remove(at: gap) }
    self.bytes = bytes
  }
}
