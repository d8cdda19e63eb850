import Glibc
import Reactor
import Synchronization

/// Who is counted as one: an IPv4 address, or the /64 of an IPv6 address, of which one household has them all.
struct PeerKey: Hashable, Sendable {
  private let family: Int32
  private let prefix: UInt64

  /// - Returns: nil for what is no address.
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

/// How many connections a server has, over all its loops, and how many of each peer.
final class ConnectionCount: Sendable {
  private let number = Atomic<Int>(0)
  private let peers = Mutex<[PeerKey: Int]>([:])

  var current: Int { number.load(ordering: .relaxed) }

  /// Counts a connection.
  ///
  /// - Returns: how many the peer has with it.
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
