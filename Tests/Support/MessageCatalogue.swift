import Model

/// All sentences of Model for people, by code: what every translation must contain.
package enum MessageCatalogue {
  /// English templates by code.
  package static let all: [String: String] = {
    var all: [String: String] = [:]
    for set in sets { add(set, to: &all) }
    for reason in Reason.table + Reason.elsewhere {
      all[reason.causeCode] = reason.cause
      all[reason.remedyCode] = reason.remedy
    }
    return all
  }()

  /// All lists of sentences. A list that is missing here cannot be translated.
  private static let sets: [any MessageSet.Type] = [
    JSONMessage.self, FieldMessage.self, TokenMessage.self, NameMessage.self, IncidentMessage.self, DraftMessage.self,
    PayloadMessage.self,
    FCMMessageProblem.self, JPushMessageProblem.self, LintMessage.self, RepeatMessage.self,
    CallbackContradiction.self, CallbackNote.self, ChannelMessage.self, TopicMessage.self, DialectMessage.self,
    PageMessage.self, SmokeMessage.self, TemplateMessage.self, SegmentMessage.self, PersonMessage.self,
    OIDCMessage.self, WebAddressMessage.self,
    PasswordMessage.self, ApprovalMessage.self, LocalizationMessage.self,
  ]

  private static func add<Set: MessageSet>(_ set: Set.Type, to all: inout [String: String]) {
    for message in set.allCases {
      precondition(all[message.rawValue] == nil, "two messages have the code \(message.rawValue)")
      all[message.rawValue] = message.english
    }
  }
}
