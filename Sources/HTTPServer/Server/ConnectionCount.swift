import Glibc
import Reactor
import Synchronization

/// Whose connections are counted together: an IPv4 address, or an IPv6 /64, which one household has.
struct PeerKey: Hashable, Sendable {
  private let family: Int32
  private let prefix: UInt64

  init?(_ host: String) {
    var four = in_addr()
    let plain = host.hasPrefix("::ffff:") && host.contains(".") ? String(host.dropFirst(7)) : host
    if inet_pton(AF_INET, plain, &four) == 1 {
      (family, prefix) = (AF_INET, UInt64(four.s_addr))
      return
    }
    var six = in6_addr()
    guard inet_pton(AF_INET6, plain, &six) == 1 else { return nil }
    (family, prefix) = (AF_INET6, withUnsafeBytes(of: &six) { $0.loadUnaligned(as: UInt64.self) })
  }
}

/// Counts a server's connections over all its loops, in total and for each peer.
package final class ConnectionCount: Sendable {
  private let number = Atomic<Int>(0)
  private let peers = Mutex<[PeerKey: Int]>([:])

  package init() {}

  package var current: Int { number.load(ordering: .relaxed) }

  /// Counts a connection.
  ///
  /// - Returns: the peer's connections, this one included.
  func add(_ peer: PeerKey?) -> Int {
    number.add(1, ordering: .relaxed)
    guard let peer else { return 0 }
    return peers.withLock { peers in
      peers[peer, default: 0] += 1
      return peers[peer] ?? 0
    }
  }

  func remove(_ peer: PeerKey?) {
    number.subtract(1, ordering: .relaxed)
    guard let peer else { return }
    peers.withLock { peers in
      let left = (peers[peer] ?? 0) - 1
      peers[peer] = left > 0 ? left : nil
    }
  }
}
