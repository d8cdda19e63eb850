import Foundation
import OpenSSL
import Synchronization

/// Texts that show that this process gave out something in the last minutes, such as a challenge. None is stored until
/// it is used, so that strangers cannot fill anything.
final class Tickets: Sendable {
  /// How long a ticket is good, in seconds, if its use names no other time.
  static let lifetime: TimeInterval = 300
  /// The longest time of any use.
  private static let longest: TimeInterval = 3600

  private let key = Random.bytes(32)
  /// Used tickets, until they would have ended anyway.
  private let used = Mutex<[String: Date]>([:])

  /// - Parameter purpose: what the ticket is good for; the same text is needed to redeem it.
  func make(_ purpose: String, now: Date) -> String {
    let body = Random.bytes(16) + withUnsafeBytes(of: UInt64(now.timeIntervalSince1970).bigEndian) { Array($0) }
    return Base64URL.encode(body + code(body, purpose))
  }

  func isGood(
    _ ticket: String, _ purpose: String, lifetime: TimeInterval = Tickets.lifetime, now: Date
  ) -> Bool {
    guard let bytes = Base64URL.decode(ticket), bytes.count == 56, Base64URL.encode(bytes) == ticket,
      constantTimeEqual(bytes[24...], code(Array(bytes[..<24]), purpose))
    else { return false }
    let made = TimeInterval(bytes[16..<24].reduce(0) { $0 << 8 | UInt64($1) })
    return (0...min(lifetime, Self.longest)).contains(now.timeIntervalSince1970.rounded(.down) - made)
      && used.withLock { $0[ticket] == nil }
  }

  /// Uses up a ticket. Returns whether it was valid.
  func redeem(
    _ ticket: String, _ purpose: String, lifetime: TimeInterval = Tickets.lifetime, now: Date
  ) -> Bool {
    guard isGood(ticket, purpose, lifetime: lifetime, now: now) else { return false }
    return used.withLock { used in
      used = used.filter { now.timeIntervalSince($0.value) <= Self.longest }
      return used.updateValue(now, forKey: ticket) == nil
    }
  }

  private func code(_ body: [UInt8], _ purpose: String) -> [UInt8] {
    HMAC.sha256(key: key, body + Array(purpose.utf8))
  }
}
