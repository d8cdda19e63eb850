package import Store

extension WatchedHost {
  /// As `hosts/3`.
  package var key: String { "hosts/\(id)" }

  /// The address, and the requested server name if it differs.
  package var name: String {
    address.serverName == address.host ? "\(address)" : "\(address) (\(address.serverName))"
  }
}

extension TrackedExpiry {
  /// The last sighting's certificate; nil if there is none yet.
  package init?(_ host: WatchedHost) {
    guard let seen = host.seen else { return nil }
    self.init(
      key: host.key, name: host.name, kind: .host, topics: [], serial: seen.serial, sha256: seen.sha256,
      notBefore: seen.notBefore, notAfter: seen.notAfter,
      endingIssuer: seen.ends.flatMap { $0 == seen.chain.first ? nil : $0.subject })
  }
}
