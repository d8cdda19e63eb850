/// The result codes of an app's registration: those of JPush's client library, which apps of that library already
/// handle (docs/protocols.md §4.7).
package enum RegistrationCode: Int, Sendable, CaseIterable {
  case success = 0
  /// The client key is missing or unknown.
  case invalidKey = 1008
  case aliasCharacters = 6003
  case aliasTooLong = 6004
  case tagCharacters = 6005
  case tagTooLong = 6006
  /// More than 1000 tags in one call.
  case tooManyTags = 6007
  case unknown = 6009
  /// Too many calls: wait for Retry-After.
  case tooOften = 6011
  /// A field is missing or malformed.
  case invalid = 6017
  /// More than 1000 tags on the device.
  case deviceTags = 6018
  /// The server could not store it: try again.
  case server = 6024
  /// The alias has as many devices as the app's rule allows.
  case aliasFull = 6027

  /// What an alias is refused with; nil: it is fine.
  package init?(alias: String, rule: AliasRule) {
    guard let problem = rule.problem(with: alias) else { return nil }
    self =
      problem.code == NameMessage.aliasTooLong.code || problem.code == FieldMessage.tooManyCharacters.code
      ? .aliasTooLong : .aliasCharacters
  }

  /// What a tag is refused with; nil: it is fine.
  package init?(tag: String, rule: AliasRule) {
    guard let problem = TagRule.problem(with: tag, rule: rule) else { return nil }
    self =
      problem.code == NameMessage.tagTooLong.code || problem.code == FieldMessage.tooManyBytes.code
      ? .tagTooLong : .tagCharacters
  }
}
