package import JSON
import Text

/// The body that creates or changes a schedule (docs/protocols.md §4.6). The trigger and the push are still to be read.
package struct JPushScheduleFields: Sendable, Hashable {
  package let name: String?
  package let enabled: Bool?
  package let trigger: JSONValue?
  /// Without its `cid`, which JPush ignores: each run is a push of its own.
  package let push: JSONValue?
  /// Makes a creation idempotent.
  package let cid: String?

  /// - Parameter isNew: whether it creates a schedule: everything but `cid` is required then.
  /// - Throws: ``JPushError``, the first thing that is wrong.
  package init(_ body: JSONValue, isNew: Bool) throws(JPushError) {
    guard let members = body.object?.filter({ $0.value != .null }) else {
      throw Self.invalid("The body must be a JSON object.")
    }
    let known: Set<String> = ["name", "enabled", "trigger", "push"]
    if let other = members.keys.sorted().first(where: { !known.contains($0) && !(isNew && $0 == "cid") }) {
      throw Self.invalid(
        JPushFields.unknown(other, right: JPushFields.suggestion(for: other, among: known)))
    }
    name = members["name"]?.string
    if let name { try JPushTrigger.check(name: name) }
    guard name != nil || !isNew && members["name"] == nil else {
      throw Self.invalid(members["name"] == nil ? "name is missing." : "name must be a string.")
    }
    enabled = members["enabled"]?.bool
    guard !isNew || enabled == true else { throw Self.invalid("enabled must be true when a schedule is created.") }
    guard enabled != nil || members["enabled"] == nil else { throw Self.invalid("enabled must be true or false.") }
    trigger = members["trigger"]
    push = members["push"]?.object.map { JSONValue.object($0.filter { $0.key != "cid" }) }
    guard push != nil || members["push"] == nil else { throw Self.invalid("push must be a JSON object.") }
    guard !isNew || trigger != nil && push != nil else { throw Self.invalid("trigger and push are needed.") }
    cid = members["cid"]?.string
    guard members["cid"] == nil || cid.map(JPushRequest.isCID) == true else { throw Self.invalid("cid is not valid.") }
    guard !members.isEmpty else { throw Self.invalid("Send at least one of name, enabled, trigger and push.") }
  }

  /// A change keeps the kind of trigger.
  package func check(before: JSONValue) throws(JPushError) {
    // A kind that is null is none.
    let other = before["single"]?.object == nil ? "single" : "periodical"
    guard trigger?[other]?.object == nil else {
      throw Self.invalid("A single schedule cannot become periodical, or vice versa.")
    }
  }

  private static func invalid(_ text: String) -> JPushError { JPushError(.scheduleInvalid, text) }
}

/// One page of a list of schedules: 50 on each.
package struct JPushSchedulePage: Sendable, Hashable {
  private static let size = 50
  private let number: Int

  /// - Parameter text: of the query; absent or empty: the first.
  /// - Throws: ``JPushError`` unless it is a number from 1.
  package init(_ text: String?) throws(JPushError) {
    guard let number = Int(text.flatMap { $0.isEmpty ? nil : $0 } ?? "1"), (1...1_000_000).contains(number) else {
      throw JPushError(.scheduleInvalid, "page must be a number from 1.")
    }
    self.number = number
  }

  package func json<Item>(_ all: [Item], _ json: (Item) -> JSONValue) -> JSONValue {
    [
      "total_count": .number(all.count), "total_pages": .number((all.count + Self.size - 1) / Self.size),
      "page": .number(number), "schedules": .array(all.dropFirst((number - 1) * Self.size).prefix(Self.size).map(json)),
    ]
  }
}
