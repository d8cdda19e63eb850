import Delivery
import Foundation
import Providers
import Push

/// What is held back for the sake of a credential, in words and for scripts.
struct HealthWords {
  let health: ProviderHealth
  let texts: Texts

  /// Empty if all is well.
  var text: String {
    var parts: [String] = []
    switch health.circuit {
    case .closed: break
    case .open(let reason, let since, let until):
      parts.append(
        texts("circuit.open", ["reason": reason.withoutFullStop, "since": since.utcText, "until": until.utcText]))
    case .halfOpen(let reason, let since):
      parts.append(texts("circuit.half_open", ["reason": reason.withoutFullStop, "since": since.utcText]))
    }
    if let share = health.stormShare, let limit = health.limit {
      let time = health.stormAt?.utcText ?? "–"
      parts.append(
        texts("circuit.storm", ["share": Int((share * 100).rounded()).grouped, "limit": limit.grouped, "time": time]))
    }
    if let lost = health.lost, let limit = health.limit {
      parts.append(texts("circuit.losses", ["lost": lost.grouped, "limit": limit.grouped]))
    }
    return parts.joined(separator: " ")
  }
}

extension ProviderHealth {
  /// The schema `Circuit`.
  var circuitJSON: JSONValue {
    func json(_ state: String, _ reason: String? = nil, _ since: Date? = nil, _ until: Date? = nil) -> JSONValue {
      [
        "state": .string(state), "reason": .optional(reason), "since": .optional(since), "until": .optional(until),
      ]
    }
    return switch circuit {
    case .closed: json("closed")
    case .open(let reason, let since, let until): json("open", reason, since, until)
    case .halfOpen(let reason, let since): json("half_open", reason, since)
    }
  }

  /// How many devices may be under way while much is refused, or lost with its connections; else null.
  var slowedJSON: JSONValue { isSlowed ? .optional(limit) : .null }
}

extension JSONValue {
  /// An object with more members.
  func adding(_ more: [String: JSONValue]) -> JSONValue {
    guard case .object(var members) = self else { return self }
    members.merge(more) { $1 }
    return .object(members)
  }
}
