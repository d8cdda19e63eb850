public import Push

/// What is said about a line of an import.
public enum ImportMessage: String, MessageSet {
  case lineTooLong = "import.line_too_long"
  case notUTF8 = "import.not_utf8"
  case openQuote = "import.open_quote"
  case strayQuote = "import.stray_quote"
  case columnCount = "import.column_count"
  case columnUnknown = "import.column_unknown"
  case columnTwice = "import.column_twice"
  case columnMissing = "import.column_missing"
  case notActive = "import.not_active"
  case appUnknown = "import.app_unknown"

  /// The English sentence.
  public var english: String {
    switch self {
    case .lineTooLong: "A line may have at most {limit} bytes; this has more."
    case .notUTF8: "The line is not UTF-8; save the file in this encoding."
    case .openQuote: "A quotation mark is opened here and not closed; everything behind it was passed over."
    case .strayQuote: "After a closing quotation mark there must be a separator or the line's end."
    case .columnCount: "The header has {expected} columns, this line {count}."
    case .columnUnknown:
      "The header's column “{column}” is unknown; there are {known}. Nothing of the file was read."
    case .columnTwice: "The header has the column “{column}” twice. Nothing of the file was read."
    case .columnMissing:
      "The header has no column “{column}”, which every device needs. Nothing of the file was read."
    case .notActive: "The device is {state}: only active devices are taken, because to import is to register."
    case .appUnknown: "There is no app “{app}”; add it first."
    }
  }
}

/// A line that was left out, and why.
public struct RejectedLine: Error, Sendable, Hashable, CustomStringConvertible {
  /// From 1; of several lines (quoted line ends in CSV) the first.
  public let line: Int
  /// At least one.
  public let problems: [Problem]

  /// Creates one.
  public init(line: Int, problems: [Problem]) {
    self.line = line
    self.problems = problems
  }

  /// As `line 3: token: …; alias: …`.
  public var description: String { "line \(line): " + problems.map(\.description).joined(separator: "; ") }
}
