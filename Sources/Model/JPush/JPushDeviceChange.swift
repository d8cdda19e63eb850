package import JSON

/// The body of `POST /v3/devices/{registration_id}` (docs/protocols.md §4.4).
package struct JPushDeviceChange: Sendable, Hashable {
  /// Nil: unchanged; an inner nil removes it.
  package private(set) var alias: String??
  /// Fields without effect.
  package let unused: [String]
  private var clearsTags = false
  private var added: [String] = []
  private var removed: [String] = []

  /// Tags in each list of one call, and the bytes of both lists together.
  static let tagLimit = 100
  static let tagBytes = 1000

  /// - Throws: ``JPushError``, the first thing that is wrong.
  package init(_ json: JSONValue) throws(JPushError) {
    let fields = try JPushFields(json, known: ["tags", "alias", "mobile"])
    guard !fields.members.isEmpty else { throw JPushError(.invalid, "Send at least one of tags and alias.") }
    // Servers that send phone numbers along still set tags and aliases. No number is kept, so there is none to delete.
    unused = fields["mobile"].map { $0 == "" } == false ? ["mobile"] : []
    if let value = fields["alias"] {
      guard let text = value.string else { throw fields.invalid("alias", "must be a string.") }
      if !text.isEmpty, let problem = AliasRule.jpush.problem(with: text) {
        throw JPushError(.invalid, "alias: \(problem.text)")
      }
      alias = .some(text.isEmpty ? nil : text)
    }
    guard let tags = fields["tags"] else { return }
    guard tags != "" else {
      clearsTags = true
      return
    }
    let lists = try JPushFields(tags, at: "tags", known: ["add", "remove"])
    added = try Self.tags(lists, "add")
    removed = try Self.tags(lists, "remove")
    guard (added + removed).reduce(0, { $0 + $1.utf8.count }) <= Self.tagBytes else {
      throw fields.invalid("tags", "must have at most \(Self.tagBytes) bytes, added and removed ones together.")
    }
  }

  private static func tags(_ lists: JPushFields, _ name: String) throws(JPushError) -> [String] {
    let tags = try lists.texts(name, atMost: tagLimit) { _ in nil }
    if let problem = tags.lazy.compactMap({ TagRule.problem(with: $0, rule: .jpush) }).first {
      throw JPushError(.invalid, "\(lists.place(name)): \(problem.text)")
    }
    return tags
  }

  /// The tags afterwards; nil: unchanged.
  package func tags(before: some Sequence<String>) -> Set<String>? {
    if clearsTags { return [] }
    return added.isEmpty && removed.isEmpty ? nil : Set(before).union(added).subtracting(removed)
  }
}

/// `registration_ids` in the body of `POST /v3/tags/{tag}` and `POST /v3/aliases/{alias}` (docs/protocols.md §4.4).
package struct JPushMembers: Sendable, Hashable {
  package let added: [String]
  package let removed: [String]

  /// Registration IDs in one call.
  package static let limit = 1000

  /// - Parameter mayAdd: an alias is given by the device's own call only.
  /// - Throws: ``JPushError``, the first thing that is wrong.
  package init(_ json: JSONValue, mayAdd: Bool) throws(JPushError) {
    let fields = try JPushFields(json, known: ["registration_ids"])
    let lists = try JPushFields(
      fields["registration_ids"] ?? .null, at: "registration_ids", known: mayAdd ? ["add", "remove"] : ["remove"])
    added = try lists.texts("add", atMost: Self.limit) { _ in nil }
    removed = try lists.texts("remove", atMost: Self.limit) { _ in nil }
    guard !mayAdd || !added.isEmpty || !removed.isEmpty else {
      throw JPushError(.invalid, "registration_ids is empty.")
    }
  }

  /// The list in the body of `POST /v3/devices/status`.
  package static func list(_ json: JSONValue) throws(JPushError) -> [String] {
    let fields = try JPushFields(json, known: ["registration_ids"])
    let ids = try fields.texts("registration_ids", atMost: limit) { _ in nil }
    guard !ids.isEmpty else { throw JPushError(.invalid, "registration_ids is missing.") }
    return ids
  }

  /// The message IDs of a report, `msg_ids=1,2`.
  package static func messageIDs(_ text: String) throws(JPushError) -> [Int64] {
    let words = text.split(separator: ",")
    let ids = words.compactMap { Int64($0.filter { $0 != " " }) }
    guard !ids.isEmpty, ids.count == words.count, ids.count <= messageLimit else {
      throw JPushError(.invalid, "msg_ids must be 1 to \(messageLimit) message IDs, separated by commas.")
    }
    return ids
  }

  private static let messageLimit = 100

  /// `platform=ios,android`; every platform without it. JPush's other platforms have no devices here.
  package static func platforms(_ values: [String]) throws(JPushError) -> Set<Platform> {
    var platforms: Set<Platform> = []
    let words = values.flatMap { $0.split(separator: ",").map(String.init) }
    for word in words where !JPushRequest.otherPlatforms.contains(word) {
      guard let platform = Platform(rawValue: word) else {
        throw JPushError(.invalid, "platform must be ios or android.")
      }
      platforms.insert(platform)
    }
    return words.isEmpty ? Set(Platform.allCases) : platforms
  }
}
