/// Every sentence of this room that a person may read, by its code: what another language's table must hold.
package enum MessageCatalogue {
  /// English templates by code.
  package static let all: [String: String] = {
    var all: [String: String] = [:]
    for set in sets { add(set, to: &all) }
    for reason in Reason.table {
      all[reason.causeCode] = reason.cause
      all[reason.remedyCode] = reason.remedy
    }
    return all
  }()

  /// The closed lists of sentences. A new list is added here, or its sentences cannot be translated.
  static let sets: [any MessageSet.Type] = [
    JSONMessage.self, FieldMessage.self, TokenMessage.self, NameMessage.self, DraftMessage.self, PayloadMessage.self,
    LintMessage.self, RepeatMessage.self,
    CallbackContradiction.self, CallbackNote.self,
  ]

  private static func add<Set: MessageSet>(_ set: Set.Type, to all: inout [String: String]) {
    for message in set.allCases {
      precondition(all[message.rawValue] == nil, "two messages have the code \(message.rawValue)")
      all[message.rawValue] = message.english
    }
  }
}
