/// How outgoing connections are made: which go through a proxy, where they may go, and whom they trust.
package struct ProxyRules: Sendable, Hashable {
  /// For everything but the push services.
  package var targets = TargetList.any
  /// Hosts that webhooks and receivers may reach without TLS, besides this machine; ``TargetList/any``: none.
  package var plainHosts = TargetList.any
  /// A PEM file with authorities that count beside the system's; nil: only the system's.
  package var trustFile: String?
  /// Nil: none.
  package let server: ProxyServer?
  /// Connections that stay direct.
  private let exceptions: [Exception]
  /// Whether connections to this machine go through the proxy too.
  private let takesLoopback: Bool
  /// Where the setting comes from, such as `HTTPS_PROXY`; nil: nowhere.
  package let source: String?

  /// Every connection is direct.
  package static let none = ProxyRules(server: nil, exceptions: [], takesLoopback: false, source: nil)

  private init(server: ProxyServer?, exceptions: [Exception], takesLoopback: Bool, source: String?) {
    (self.server, self.exceptions) = (server, exceptions)
    (self.takesLoopback, self.source) = (takesLoopback, source)
  }

  /// Every connection goes through the proxy, also to this machine.
  package init(always server: ProxyServer) {
    self.init(server: server, exceptions: [], takesLoopback: true, source: nil)
  }

  /// The word for direct connections, in place of a URL.
  package static let noneWord = "none"

  /// The names that are asked, in this order; the first that is not empty counts.
  private static let variables = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

  /// The settings of a process: its own option, then `https_proxy`, `HTTPS_PROXY`, `all_proxy` and `ALL_PROXY`.
  /// `no_proxy`, or `NO_PROXY` if that is not set, applies to all of them, as in curl. Every connection that Signalbox
  /// sends through a proxy uses TLS, so that `http_proxy` is not asked.
  ///
  /// - Parameter option: a URL, or ``noneWord``; nil or empty: not given.
  package init(option: String?, environment: [String: String]) throws(BadSetting) {
    var found: (source: String, text: String)?
    if let option, !option.isEmpty {
      found = ("--proxy", option)
    } else {
      for name in Self.variables where found == nil {
        if let text = environment[name], !text.isEmpty { found = (name, text) }
      }
    }
    guard let found, found.text != Self.noneWord else {
      self = .none
      return
    }
    let server: ProxyServer
    do { server = try ProxyServer(found.text) } catch { throw BadSetting(source: found.source, reason: error) }
    let list = environment["no_proxy"].flatMap { $0.isEmpty ? nil : $0 } ?? environment["NO_PROXY"] ?? ""
    self.init(server: server, exceptions: Self.exceptions(list), takesLoopback: false, source: found.source)
  }

  package struct BadSetting: Error, Sendable, Hashable, CustomStringConvertible {
    package let source: String
    package let reason: BadProxy

    package var description: String {
      "\(source) \(reason). For direct connections, set --proxy none (SIGNALBOX_PROXY=none)."
    }
  }

  /// These rules for another proxy: targets and trust stay.
  package func through(_ server: ProxyServer?) -> ProxyRules {
    var rules = server.map { ProxyRules(always: $0) } ?? .none
    (rules.targets, rules.plainHosts, rules.trustFile) = (targets, plainHosts, trustFile)
    return rules
  }

  /// The proxy for a connection; nil: direct.
  ///
  /// - Parameter host: a name, or an address with or without brackets. Names are not looked up.
  package func server(for host: String, port: UInt16) -> ProxyServer? {
    guard let server else { return nil }
    let name = TargetList.plain(host)
    let address = SocketAddress(host: name, port: port)
    if !takesLoopback, name == "localhost" || name.hasSuffix(".localhost") || address?.isLoopback == true { return nil }
    return exceptions.contains { $0.covers(name, address, port) } ? nil : server
  }

  // MARK: NO_PROXY

  private enum Pattern: Sendable, Hashable {
    case everything
    /// A name and every name below it.
    case name(String)
    case network(String, bits: Int, isFour: Bool)
  }

  private struct Exception: Sendable, Hashable {
    let pattern: Pattern
    /// Nil: any.
    let port: UInt16?

    func covers(_ name: String, _ address: SocketAddress?, _ port: UInt16) -> Bool {
      if let own = self.port, own != port { return false }
      switch pattern {
      case .everything: return true
      case .name(let suffix): return address == nil && (name == suffix || name.hasSuffix("." + suffix))
      case .network(let network, let bits, let isFour):
        guard let address, (address.bytes.count == 4) == isFour else { return false }
        return address.network(bits) == network
      }
    }
  }

  /// Reads a list separated by commas or blanks. What is malformed is left out, as in curl.
  private static func exceptions(_ list: String) -> [Exception] {
    list.split { $0 == "," || $0 == " " || $0 == "\t" }.compactMap { exception(String($0)) }
  }

  private static func exception(_ text: String) -> Exception? {
    if text == "*" { return Exception(pattern: .everything, port: nil) }
    if let slash = text.firstIndex(of: "/") {
      guard let bits = Int(text[text.index(after: slash)...]) else { return nil }
      return network(TargetList.plain(String(text[..<slash])), bits: bits, port: nil)
    }
    // An address without brackets has colons of its own.
    if SocketAddress(host: text, port: 0) != nil { return network(TargetList.plain(text), bits: nil, port: nil) }
    let bare = text.hasPrefix("*.") ? text.dropFirst(2) : text.drop { $0 == "." }
    guard let (host, port) = ProxyServer.place(bare) else { return nil }
    let name = TargetList.plain(host)
    return network(name, bits: nil, port: port) ?? Exception(pattern: .name(name), port: port)
  }

  private static func network(_ text: String, bits: Int?, port: UInt16?) -> Exception? {
    guard let address = SocketAddress(host: text, port: 0) else { return nil }
    let most = address.bytes.count * 8
    let length = bits ?? most
    guard (0...most).contains(length) else { return nil }
    return Exception(pattern: .network(address.network(length), bits: length, isFour: most == 32), port: port)
  }
}
