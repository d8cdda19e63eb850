/// Whether a host is this very machine: what is sent there, nobody reads on the way.
package enum Loopback {
  /// As `localhost`, `127.0.0.1`, `::1` or `[::1]`.
  package static func isLoopback(_ host: String) -> Bool {
    let host = host.lowercased()
    if ["localhost", "::1", "[::1]"].contains(host) { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}
