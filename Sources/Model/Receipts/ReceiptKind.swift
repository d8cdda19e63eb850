/// What an app reports about a push that no provider tells (docs/protocols.md §8). Stored as numbers: append only.
package enum ReceiptKind: Int, Sendable, CaseIterable, Hashable {
  /// The device showed it, or handed it to the app.
  case displayed = 1
  /// A person tapped it.
  case opened = 2
  /// A person cleared it without opening it.
  case dismissed = 3

  /// As in the API and in the payload of a report.
  package var name: String {
    switch self {
    case .displayed: "displayed"
    case .opened: "opened"
    case .dismissed: "dismissed"
    }
  }

  package init?(name: String) {
    guard let kind = ReceiptKind.allCases.first(where: { $0.name == name }) else { return nil }
    self = kind
  }
}

/// Limits of what apps report.
package enum ReceiptRule {
  /// Days after its creation for which reports of a push are taken.
  package static let days = 30
  /// Reports in one request.
  package static let batch = 500
}
