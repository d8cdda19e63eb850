import Delivery
import Foundation
import JSON
import Providers
import Model
import Text

/// Why pushes with a credential are held back or slowed, in words.
struct HealthWords {
  let health: ProviderHealth
  let texts: Texts

  /// Empty if nothing is held back or slowed.
  var text: String {
    var parts: [String] = []
    switch health.circuit {
    case .closed: break
    case .open(let reason, let since, let until):
      parts.append(
        texts(
          "circuit.open",
          ["reason": reason.withoutFullStop, "since": texts.minute(since), "until": texts.minute(until)]))
      parts += meaning(reason)
    case .halfOpen(let reason, let since):
      parts.append(texts("circuit.half_open", ["reason": reason.withoutFullStop, "since": texts.minute(since)]))
      parts += meaning(reason)
    }
    if let share = health.stormShare, let limit = health.limit {
      let time = health.stormAt.map(texts.minute) ?? "–"
      parts.append(
        texts("circuit.storm", ["share": Int((share * 100).rounded()).grouped, "limit": limit.grouped, "time": time]))
    }
    if let lost = health.lost, let limit = health.limit {
      parts.append(texts("circuit.losses", count: lost, ["limit": limit.grouped]))
    }
    if health.circuit != .closed, let lead = health.clockLead, abs(lead) >= Self.tolerance {
      parts.append(Self.clock(lead, texts))
    }
    return parts.sentences
  }

  /// What a service's code means, and what to do; nothing for the error of a connection, which says it itself.
  private func meaning(_ code: String) -> [String] {
    let reason = Reason.of(code)
    return reason.isKnown ? [texts.cause(reason), texts.remedy(reason)] : []
  }

  /// Clock differences of up to this many seconds may be network delay; no service rejects them.
  private static let tolerance = 10

  /// What the service's clock showed beside ours.
  static func clock(_ lead: Int, _ texts: Texts) -> String {
    guard abs(lead) >= tolerance else { return texts("circuit.clock_fine") }
    return texts(lead > 0 ? "circuit.clock_behind" : "circuit.clock_ahead", ["seconds": abs(lead).grouped])
  }
}

extension ProviderHealth {
  /// How many devices may be in progress while many are refused or lost with their connections; otherwise nil.
  var slowedTo: Int? { isSlowed ? limit : nil }
}

/// The schema `Circuit`.
struct CircuitAnswer: JSONWritable {
  private let health: ProviderHealth

  init(_ health: ProviderHealth) { self.health = health }

  func write(to json: inout JSONWriter) {
    switch health.circuit {
    case .closed: write("closed", nil, nil, nil, to: &json)
    case .open(let reason, let since, let until): write("open", reason, since, until, to: &json)
    case .halfOpen(let reason, let since): write("half_open", reason, since, nil, to: &json)
    }
  }

  private func write(_ state: String, _ reason: String?, _ since: Date?, _ until: Date?, to json: inout JSONWriter) {
    json.object { json in
      json.member("state", state)
      json.member("reason", reason)
      json.member("since", since)
      json.member("until", until)
    }
  }
}
