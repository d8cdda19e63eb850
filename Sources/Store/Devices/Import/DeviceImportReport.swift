package import JSON
package import Model
import Text

/// The API's schema `ImportResult`.
package struct DeviceImportReport: Sendable {
  /// How many rejected lines the API lists.
  package static let errorLimit = 1000
  /// How many problems are kept: a line can have one for each of its tags.
  private static let problemLimit = 20_000

  /// Lines with a device, valid or not.
  package private(set) var lines = 0
  /// New devices.
  package private(set) var added = 0
  /// Known devices.
  package private(set) var updated = 0
  /// Skipped lines.
  package private(set) var rejected = 0
  /// The first of them, with their problems.
  package private(set) var errors: [RejectedLine] = []
  private let errorLimit: Int
  private var problems = 0

  /// - Parameter errorLimit: how many rejected lines are kept.
  package init(errorLimit: Int = DeviceImportReport.errorLimit) { self.errorLimit = errorLimit }

  /// Counts an unreadable line.
  package mutating func add(_ line: RejectedLine) {
    lines += 1
    rejected += 1
    guard errors.count < errorLimit, problems < Self.problemLimit else { return }
    errors.append(line)
    problems += line.problems.count
  }

  /// Counts the results of a batch.
  package mutating func add(_ outcome: DeviceImportBatch.Outcome) {
    lines += outcome.added + outcome.updated
    added += outcome.added
    updated += outcome.updated
    for line in outcome.rejected { add(line) }
  }
}

extension DeviceImportReport {
  /// What an import that was broken off has left, and how to go on; nil: nothing.
  package var brokenOff: Problem? {
    let count = added + updated
    guard count > 0 else { return nil }
    return Problem(
      "", ImportMessage.brokenOff, ["count": "\(count)", "added": "\(added)", "updated": "\(updated)"])
  }
}

extension DeviceImportReport: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("lines", lines)
    json.member("added", added)
    json.member("updated", updated)
    json.member("rejected", rejected)
    json.array("errors", errors.sorted { $0.line < $1.line }) { json, line in
      // A single wrong field is named in its column; several are named in the message.
      let text = line.problems.count == 1 ? line.problems[0].text : line.problems.phrases
      json.object { json in
        json.member("line", line.line)
        json.member("message", text)
        if let field = line.problems.first?.field, !field.isEmpty { json.member("field", field) }
      }
    }
  }
}

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
  case emptyWord = "import.empty_word"
  case brokenOff = "import.broken_off"
  case appUnknown = "import.app_unknown"
  case provider = "device.provider"
  case otherRegistrationID = "device.other_registration_id"

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
    case .emptyWord:
      "“{value}” is how programs write a value that is not there. Leave it empty, or enter the device's own."
    case .brokenOff:
      "The import ended early: {count} devices of the file were imported before ({added} added, {updated} updated), the "
        + "rest were not. Import the same file again once this is fixed: devices that are there already are only updated."
    case .appUnknown: "App “{app}” not found. Add it first."
    case .provider: "These push services reach {platform} devices: {choices}."
    case .otherRegistrationID:
      "With jpush, the token is the registration ID. Set one of the two, or both to the same value."
    }
  }

  package var singular: (argument: String, english: String)? {
    switch self {
    case .brokenOff:
      (
        argument: "count",
        english:
          "The import ended early: 1 device of the file was imported before ({added} added, {updated} updated), the "
          + "rest were not. Import the same file again once this is fixed: devices that are there already are only updated."
      )
    default: nil
    }
  }
}

/// A skipped line, and why.
package struct RejectedLine: Error, Sendable, Hashable, CustomStringConvertible {
  /// From 1; the first of several lines (quoted line ends in CSV).
  package let line: Int
  package let problems: [Problem]
  package init(line: Int, problems: [Problem]) { (self.line, self.problems) = (line, problems) }

  /// As `line 3: token: …; alias: …`.
  package var description: String { "line \(line): " + problems.phrases }
}

extension [Problem] {
  /// As `token: …; alias: ….`
  fileprivate var phrases: String {
    (dropLast().map(\.description.withoutFullStop) + suffix(1).map(\.description)).joined(separator: "; ")
  }
}
