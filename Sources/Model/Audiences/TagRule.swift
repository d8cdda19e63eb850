/// What a tag may look like, and how many of them a device may have.
package enum TagRule {
  /// Bytes of UTF-8 in one tag, as at JPush; under every rule, so that an app can move there later.
  package static let limit = JPushName.limit
  /// Tags of one device.
  package static let perDevice = 1000

  /// What is wrong with a tag of an app whose names follow `rule`.
  package static func problem(with tag: String, rule: AliasRule) -> Problem? {
    guard rule == .jpush else { return PlainName.problem(with: tag, limit: limit) }
    if tag.isEmpty { return Problem("", NameMessage.empty) }
    if tag.utf8.count > limit {
      return Problem("", NameMessage.tagTooLong, ["limit": String(limit), "count": String(tag.utf8.count)])
    }
    return JPushName.firstForbidden(in: tag).map {
      Problem("", NameMessage.tagCharacter, ["character": String($0)])
    }
  }

  /// What is wrong with all the tags that a device would have; paths are `[0]`, `[1]`, ….
  package static func problems(with tags: [String], rule: AliasRule) -> [Problem] {
    var problems = tags.enumerated().compactMap { index, tag in
      problem(with: tag, rule: rule)?.under("[\(index)]")
    }
    let count = Set(tags).count
    if count > perDevice {
      problems.append(Problem("", NameMessage.tagsTooMany, ["limit": String(perDevice), "count": String(count)]))
    }
    return problems
  }
}
