import Foundation
import Model
import SQLite
import Simulator
import Store

/// What a database says of a push, held against what its phones received.
struct Tally: Sendable, CustomStringConvertible {
  /// Outcomes in the table, by their name.
  var outcomes: [String: Int] = [:]
  /// Why, of what was not accepted.
  var reasons: [String: Int] = [:]
  /// Devices of the audience without an outcome.
  var missing = 0
  /// Outcomes of devices that are not of the audience.
  var strangers = 0
  /// Whether the push's counters say the same as the table.
  var agrees = false
  /// Phones that received the push.
  var received = 0
  /// How often it came to a phone once more.
  var doubles = 0
  /// The same, by service.
  var doublesBy: [ProviderKind: Int] = [:]
  /// Accepted, and never on the phone.
  var lost = 0
  /// On the phone, although the outcome says that it was not sent or refused.
  var untold = 0
  /// On a phone under another `apns-id` than the device's.
  var otherIDs = 0

  /// Nobody forgotten, nobody twice, nothing claimed that is not so.
  var isWhole: Bool { missing == 0 && strangers == 0 && agrees && lost == 0 && untold == 0 && otherIDs == 0 }

  var description: String {
    """
    outcomes \(outcomes) reasons \(reasons) missing \(missing) strangers \(strangers) counters agree \(agrees) \
    received \(received) doubles \(doubles) \(doublesBy) lost \(lost) untold \(untold) other ids \(otherIDs)
    """
  }

  /// - Parameter audience: the tokens that the push was for.
  init(_ store: Store, push id: Int64, audience: Set<DeviceToken>, phones: PhoneBook) async throws {
    struct Row: Sendable {
      let device: Int64
      let token: DeviceToken
      let outcome: OutcomeKind
      let reason: String?
    }
    let (push, rows) = try await store.read { database in
      (
        try Push.get(database, id: id),
        try database.fetchAll(
          """
          SELECT x.device_id, d.token, x.outcome, r.text FROM deliveries x JOIN devices d ON d.id = x.device_id
          LEFT JOIN reasons r ON r.id = x.reason_id WHERE x.push_id = ?
          """, id
        ) { row in
          Row(
            device: row.int64(0), token: DeviceToken(bytes: row.blob(1)),
            outcome: try row.value(2, as: OutcomeKind.self), reason: row.optionalText(3))
        }
      )
    }
    let byToken = Dictionary(phones.phones().map { ($0.token, $0) }) { first, _ in first }
    var open = audience
    var counts = OutcomeCounts()
    for row in rows {
      if open.remove(row.token) == nil { strangers += 1 }
      counts[row.outcome] += 1
      outcomes[row.outcome.name, default: 0] += 1
      if let reason = row.reason { reasons[reason, default: 0] += 1 }
      let expected = APNsID(seed: push.seed, device: row.device).description
      let all = byToken[row.token].map { $0.received + $0.waiting } ?? []
      let came = all.filter { $0.uniqueID == push.uid || $0.apnsID == expected }
      let provider = byToken[row.token]?.provider ?? .apns
      // FCM and JPush number their messages themselves.
      if provider == .apns { otherIDs += came.count { $0.apnsID != expected } }
      let again = max(0, came.reduce(-1) { $0 + 1 + $1.duplicates })
      doubles += again
      if again > 0 { doublesBy[provider, default: 0] += again }
      if !came.isEmpty { received += 1 }
      if came.isEmpty, row.outcome == .accepted { lost += 1 }
      if !came.isEmpty, row.outcome != .accepted, row.outcome != .unknown { untold += 1 }
    }
    missing = open.count
    agrees = counts == push.counts && push.target == audience.count
  }
}
