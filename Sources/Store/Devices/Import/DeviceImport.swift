import JSON
internal import Model

/// Formats and field names of imports and exports.
package enum DeviceImport {
  package enum Format: String, Sendable, CaseIterable {
    /// A JSON object on each line, like the body of `PUT /api/v1/devices`.
    case ndjson
    /// RFC 4180 with a header line of the same names; tags separated by blanks.
    case csv
  }

  /// A device and its line.
  package struct Line: Sendable, Hashable {
    /// From 1; a CSV header counts.
    package let number: Int
    package let device: DeviceInput
  }

  /// More than a device with 1000 tags needs. A line is held in memory.
  package static let maximumLineBytes = 128 * 1024

  /// Importable fields.
  static let columns =
    [
      "app", "environment", "platform", "token", "alias", "tags", "registration_id", "name", "provider",
    ] + DeviceDetails.names
  /// Exported fields that an import ignores.
  static let readOnlyColumns = ["id", "state", "state_reason", "registered_at", "seen_at"]
  /// Required in each line, or as a default.
  static let neededColumns = ["app", "environment", "platform", "token"]

  /// Reads a device from its line's members.
  ///
  /// - Parameter defaults: values for missing members, such as `["app": "com.example.app"]`.
  static func read(
    _ json: JSONValue, line: Int, defaults: [String: JSONValue]
  ) -> Result<Line, RejectedLine> {
    var json = json
    if case .object(var members) = json {
      if let state = members["state"]?.string, let known = DeviceState(name: state), known != .active {
        return .failure(
          RejectedLine(line: line, problems: [Problem("state", ImportMessage.notActive, ["state": state])]))
      }
      for name in readOnlyColumns where members[name] != nil { members[name] = nil }
      let problems = EmptyValue.remove(from: &members)
      if !problems.isEmpty { return .failure(RejectedLine(line: line, problems: problems)) }
      if !defaults.isEmpty { members.merge(defaults) { own, _ in own } }
      json = .object(members)
    }
    do throws(Problems) {
      return .success(Line(number: line, device: try DeviceInput(json: json)))
    } catch {
      return .failure(RejectedLine(line: line, problems: error.all))
    }
  }
}

/// How programs that write files spell a value that is not there. Taken as a name, it would join all their devices.
enum EmptyValue {
  /// Of databases and their tools, which have no other meaning: as if nothing stood there.
  static let marks: Set<String> = ["NULL", "null", "\\N", "(null)", "<null>", "[NULL]", "(NULL)", "<NULL>"]
  /// Of programming languages and spreadsheets. Somebody may be called like that, so a person decides.
  private static let words: Set<String> = ["None", "nil", "undefined", "NaN", "N/A", "#N/A", "Null", "<nil>", "<none>"]
  /// Members that tell devices or their users apart, or join them.
  private static let names = ["alias", "tags", "registration_id"]

  /// - Returns: the members that a person must look at.
  static func remove(from members: inout [String: JSONValue]) -> [Problem] {
    for (name, value) in members {
      if let text = value.string, marks.contains(text) {
        members[name] = nil
      } else if name == "tags", let tags = value.array, tags.contains(where: { marks.contains($0.string ?? "") }) {
        let rest = tags.filter { !marks.contains($0.string ?? "") }
        members[name] = rest.isEmpty ? nil : .array(rest)
      }
    }
    return names.compactMap { name in
      let texts = members[name].map { $0.array ?? [$0] }?.compactMap(\.string)
      return texts?.first(where: words.contains).map { Problem(name, ImportMessage.emptyWord, ["value": $0]) }
    }
  }
}
