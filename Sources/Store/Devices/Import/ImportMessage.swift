package import Model

/// What is said about a line of an import.
package enum ImportMessage: String, MessageSet {
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
  package var english: String {
    switch self {
    case .lineTooLong: "The line exceeds {limit} bytes."
    case .notUTF8: "The line is not UTF-8. Save the file with this encoding."
    case .openQuote: "A quotation mark is not closed. Everything after it was skipped."
    case .strayQuote: "A closing quotation mark must be followed by a separator or the end of the line."
    case .columnCount: "The header has {expected} columns, but this line has {count}."
    case .columnUnknown:
      "Unknown column “{column}” in the header. Known columns: {known}. Nothing was imported."
    case .columnTwice: "The header has the column “{column}” twice. Nothing was imported."
    case .columnMissing:
      "The header lacks the required column “{column}”. Nothing was imported."
    case .notActive: "The device is {state}. Only active devices can be imported."
    case .appUnknown: "App “{app}” not found. Add it first."
    }
  }
}

/// A line that was left out, and why.
package struct RejectedLine: Error, Sendable, Hashable, CustomStringConvertible {
  /// From 1; of several lines (quoted line ends in CSV) the first.
  package let line: Int
  /// At least one.
  package let problems: [Problem]
  package init(line: Int, problems: [Problem]) {
    self.line = line
    self.problems = problems
  }

  /// As `line 3: token: …; alias: …`.
  package var description: String { "line \(line): " + problems.map(\.description).joined(separator: "; ") }
}
