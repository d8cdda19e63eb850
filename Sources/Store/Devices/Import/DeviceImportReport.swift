package import JSON
import Model

/// What became of an import: the API's schema `ImportResult`.
package struct DeviceImportReport: Sendable {
  /// How many lines are told one by one.
  package static let errorLimit = 1000

  /// Lines with a device, good or not.
  package private(set) var lines = 0
  /// New devices.
  package private(set) var added = 0
  /// Known devices.
  package private(set) var updated = 0
  /// Lines that were left out.
  package private(set) var rejected = 0
  /// The first ``errorLimit`` of them.
  package private(set) var errors: [RejectedLine] = []

  /// An import that has not begun.
  package init() {}

  /// Counts a line that could not be read.
  package mutating func add(_ line: RejectedLine) {
    lines += 1
    rejected += 1
    if errors.count < Self.errorLimit { errors.append(line) }
  }

  /// Counts what became of a batch.
  package mutating func add(_ outcome: DeviceImportBatch.Outcome) {
    lines += outcome.added + outcome.updated
    added += outcome.added
    updated += outcome.updated
    for line in outcome.rejected { add(line) }
  }
}

extension DeviceImportReport: JSONWritable {
  /// One object.
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("lines", lines)
      json.member("added", added)
      json.member("updated", updated)
      json.member("rejected", rejected)
      json.array("errors", errors.sorted { $0.line < $1.line }) { json, line in
        // A line with one field that is wrong names it; with several, the message does.
        let text =
          line.problems.count == 1 ? line.problems[0].text : line.problems.map(\.description).joined(separator: "; ")
        json.object { json in
          json.member("line", line.line)
          json.member("message", text)
          if let field = line.problems.first?.field, !field.isEmpty { json.member("field", field) }
        }
      }
    }
  }
}
