/// Where outgoing connections may go: never to link-local and metadata addresses, and with a list only to what is on it.
/// The push services themselves need no entry.
package struct TargetList: Sendable, Hashable {
  /// Everywhere but to link-local and metadata addresses.
  package static let any = TargetList(names: [], networks: [], isLimited: false)

  private struct Network: Sendable, Hashable {
    let text: String
    let bits: Int
    let isFour: Bool

    func covers(_ address: SocketAddress) -> Bool {
      (address.bytes.count == 4) == isFour && address.network(bits) == text
    }
  }

  /// In lower case; `.example.com` for every name below it.
  private let names: Set<String>
  private let networks: [Network]
  /// Whether there is a list.
  package let isLimited: Bool

  private init(names: Set<String>, networks: [Network], isLimited: Bool) {
    (self.names, self.networks, self.isLimited) = (names, networks, isLimited)
  }

  /// - Parameter entries: names, `*.example.com`, addresses, and networks such as `10.0.0.0/8`; none: ``any``.
  /// - Throws: ``BadEntry`` for the first that is none of these.
  package init(_ entries: [String]) throws(BadEntry) {
    var (names, networks): (Set<String>, [Network]) = ([], [])
    for entry in entries {
      let text = Self.plain(entry)
      let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
      if let address = SocketAddress(host: parts.first ?? "", port: 0) {
        let most = address.bytes.count * 8
        guard parts.count < 3, let bits = parts.count == 2 ? Int(parts[1]) : most, (0...most).contains(bits) else {
          throw BadEntry(text: entry)
        }
        networks.append(Network(text: address.network(bits), bits: bits, isFour: most == 32))
      } else {
        let name = text.hasPrefix("*.") ? String(text.dropFirst(2)) : text
        guard Self.isName(name) else { throw BadEntry(text: entry) }
        names.insert(text.hasPrefix("*.") ? "." + name : name)
      }
    }
    self.init(names: names, networks: networks, isLimited: !entries.isEmpty)
  }

  package struct BadEntry: Error, Sendable, Hashable, CustomStringConvertible {
    package let text: String

    package static let reason = "is not a host name, *.example.com, an IP address, or a network such as 10.0.0.0/8"

    package var description: String { "“\(text)” \(Self.reason)" }
  }

  private static func isName(_ text: String) -> Bool {
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    return text.utf8.count <= 253
      && labels.allSatisfy { label in
        !label.isEmpty
          && label.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
              || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
              || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
          }
      }
  }

  /// Lower case, without brackets and final dot.
  static func plain(_ host: String) -> String {
    var name = host.lowercased()[...]
    if name.hasPrefix("["), name.hasSuffix("]") { name = name.dropFirst().dropLast() }
    if name.hasSuffix(".") { name = name.dropLast() }
    return String(name)
  }

  /// The addresses of a host that may be connected to. Look the name up once: these are the ones to use.
  ///
  /// - Throws: ``RefusedTarget`` if there were addresses, and none may.
  package func permitted(_ addresses: [SocketAddress], of host: String) throws(RefusedTarget) -> [SocketAddress] {
    let plain = addresses.filter { !$0.isLinkLocalOrMetadata }
    if plain.isEmpty, let first = addresses.first {
      throw RefusedTarget(reason: .linkLocal, host: host, address: first.host)
    }
    guard isLimited, !lists(host) else { return plain }
    let listed = plain.filter { address in networks.contains { $0.covers(address) } }
    if listed.isEmpty, let first = plain.first {
      throw RefusedTarget(reason: .notListed, host: host, address: first.host)
    }
    return listed
  }

  /// Checks a host whose name a proxy looks up: only an entry for the name, or an address itself, admits it.
  package func check(_ host: String) throws(RefusedTarget) {
    if let address = SocketAddress(host: Self.plain(host), port: 0) {
      _ = try permitted([address], of: host)
    } else if isLimited, !lists(host) {
      throw RefusedTarget(reason: .notListed, host: host, address: nil)
    }
  }

  /// Whether an entry names the host, or covers it as an address. Names are not looked up.
  package func names(_ host: String) -> Bool {
    guard let address = SocketAddress(host: Self.plain(host), port: 0) else { return lists(host) }
    return networks.contains { $0.covers(address) }
  }

  private func lists(_ host: String) -> Bool {
    var name = Self.plain(host)
    if names.contains(name) { return true }
    while let dot = name.firstIndex(of: ".") {
      if names.contains(String(name[dot...])) { return true }
      name = String(name[name.index(after: dot)...])
    }
    return false
  }
}

/// Why a host is not connected to.
package struct RefusedTarget: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Reason: Sendable, Hashable {
    case linkLocal, notListed
  }

  package let reason: Reason
  package let host: String
  /// Nil: the name was not looked up.
  package let address: String?

  /// The host with its address, if that says more.
  package var place: String { address.map { $0 == host ? host : "\(host) (\($0))" } ?? host }

  package var description: String {
    switch reason {
    case .linkLocal: "\(place) is a link-local or metadata address, which Signalbox does not connect to"
    case .notListed:
      "\(place) is not an allowed target. Add it with --allow-target (SIGNALBOX_ALLOW_TARGET), or choose another one"
    }
  }
}
