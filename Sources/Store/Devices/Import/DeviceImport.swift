import JSON
internal import Model

/// Many devices in one file or request: the forms, and the names that both know.
package enum DeviceImport {
  /// How the devices are written.
  package enum Format: String, Sendable, CaseIterable {
    /// A JSON object on each line, as the body of `PUT /api/v1/devices`.
    case ndjson
    /// RFC 4180 with a header line of the same names; tags separated by blanks.
    case csv
  }

  /// A device and where it stands.
  package struct Line: Sendable {
    /// From 1; in CSV the header counts.
    package let number: Int
    /// The device.
    package let device: DeviceInput
  }

  /// More than a device with 1000 tags needs. A line is held in memory while it comes in.
  package static let maximumLineBytes = 128 * 1024

  /// What may be said of a device.
  static let columns = ["app", "environment", "platform", "token", "alias", "tags", "registration_id", "name"]
  /// What an export says besides, and an import passes over.
  static let readOnlyColumns = ["id", "state", "state_reason", "registered_at", "seen_at"]
  /// Without these, or a default for them, no line can be right.
  static let neededColumns = ["app", "environment", "platform", "token"]

  /// Reads a device from the members of its line.
  ///
  /// - Parameter defaults: what counts where the line says nothing, as `["app": "com.example.app"]`.
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
