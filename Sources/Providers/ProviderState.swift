package import Foundation

/// How a provider stands with its service.
package enum ProviderState: Sendable, Hashable {
  /// Nothing to send, and no connection.
  case idle
  case connecting
  /// Connected.
  case ready
  /// Cannot send.
  case failing(ProviderFailure)
}

/// Why a provider cannot send.
package struct ProviderFailure: Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  package enum Kind: Sendable, Hashable {
    /// The service refuses who we are: somebody must replace key or certificate.
    case credential
    /// The service cannot be reached, or is not what it should be.
    case connection
  }

  /// What is wrong.
  package let kind: Kind
  /// In words: the service's reason, or what went wrong with the connection.
  package let reason: String
  /// When it began.
  package let since: Date
  package init(kind: Kind, reason: String, since: Date) {
    self.kind = kind
    self.reason = reason
    self.since = since
  }

  /// ``reason``.
  package var description: String { reason }
}
