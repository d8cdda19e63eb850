package import JSON

/// The plain-text form of the legacy protocol, as old GCM servers send it: pairs of names and values, one registration
/// ID, and an answer of lines (docs/protocols.md §3.5).
package enum LegacyForm {
  package static let mediaType = "application/x-www-form-urlencoded"

  private static let flags: Set<String> = ["content_available", "delay_while_idle", "dry_run", "mutable_content"]

  /// The same request as JSON. Of several values of a name the first counts.
  package static func json(_ pairs: [(name: String, value: String)]) -> JSONValue {
    var members: [String: JSONValue] = [:]
    var data: [String: JSONValue] = [:]
    for (name, value) in pairs {
      if name.hasPrefix("data.") {
        let key = String(name.dropFirst("data.".count))
        data[key] = data[key] ?? .string(value)
      } else {
        let key = name == "registration_id" ? "to" : name
        members[key] = members[key] ?? typed(name, value)
      }
    }
    // Without a token the answer is `Error=MissingRegistration`.
    if members["condition"] == nil, members["registration_ids"] == nil { members["to"] = members["to"] ?? "" }
    if !data.isEmpty { members["data"] = .object(data) }
    return .object(members)
  }

  private static func typed(_ name: String, _ value: String) -> JSONValue {
    if flags.contains(name) { return .bool(["1", "true"].contains(value.lowercased())) }
    if name == "time_to_live", let seconds = Int64(value) { return .integer(seconds) }
    return .string(value)
  }

  /// The answer to the same request in JSON, as lines: `id=…`, and `registration_id=…` for a token to store instead; or
  /// `Error=…`.
  package static func answer(_ json: JSONValue) -> String {
    let result = json["results"]?.array?.first ?? json
    if let word = result["error"]?.string { return "Error=\(word)\n" }
    let id = result["message_id"]
    let token = result["registration_id"]?.string.map { "registration_id=\($0)\n" } ?? ""
    return "id=\(id?.string ?? id?.integer.map { "\($0)" } ?? "")\n\(token)"
  }
}
