/// Whether a host is this machine.
package enum Loopback {
  /// Such as `localhost`, `127.0.0.1`, `::1` or `[::1]`.
  package static func isLoopback(_ host: String) -> Bool {
    let host = host.lowercased()
    if ["localhost", "::1", "[::1]"].contains(host) { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}
