/// Where a credential sends to.
package enum CredentialPlace: Sendable, Hashable {
  /// The provider's own server for the environment.
  case service
  /// The built-in simulator.
  case simulator
  /// Another server.
  case server(host: String, port: UInt16)

  /// The words that are kept for places with a name.
  private enum Word: String {
    case service = "apple"
    case simulator
  }

  /// Reads a credential's endpoint; nil: it is none.
  package init?(_ text: String) {
    switch Word(rawValue: text) {
    case .service: self = .service
    case .simulator: self = .simulator
    case nil:
      let parts = text.split(separator: ":")
      guard parts.count == 2, let port = UInt16(parts[1]) else { return nil }
      self = .server(host: String(parts[0]), port: port)
    }
  }
}

extension Credential {
  /// Where it sends to; nil: its endpoint cannot be read.
  package var place: CredentialPlace? { CredentialPlace(endpoint) }
}
