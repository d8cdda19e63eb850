package import Store

extension WatchedHost {
  /// Where it stands in the console and in the store, as `hosts/3`.
  package var key: String { "hosts/\(id)" }

  /// What people call it: the address, and the name that is asked for if that is another.
  package var name: String {
    address.serverName == address.host ? "\(address)" : "\(address) (\(address.serverName))"
  }
}

extension TrackedExpiry {
  /// What was last seen at a host; nil if nothing was seen yet.
  package init?(_ host: WatchedHost) {
    guard let seen = host.seen else { return nil }
    self.init(
      key: host.key, name: host.name, kind: .host, topics: [], serial: seen.serial, sha256: seen.sha256,
      notBefore: seen.notBefore, notAfter: seen.notAfter,
      endingIssuer: seen.ends.flatMap { $0 == seen.chain.first ? nil : $0.subject })
  }
}
