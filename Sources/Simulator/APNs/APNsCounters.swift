public import Push

/// What a simulated APNs server has done since it was started.
public struct APNsCounters: Sendable, Hashable {
  /// Requests that came in whole.
  public internal(set) var requests = 0
  /// Answers by HTTP status.
  public internal(set) var byStatus: [Int: Int] = [:]
  /// Answers that were no success, by reason.
  public internal(set) var byReason: [String: Int] = [:]
  /// Requests that a fault left without an answer.
  public internal(set) var unanswered = 0
  /// Requests that a fault reset as not processed.
  public internal(set) var refused = 0
  /// Clients that finished their handshake.
  public internal(set) var connections = 0
  /// Those that are there now.
  public internal(set) var openConnections = 0

  /// The most requests that one connection had open at once: how far a sender uses what it is allowed.
  public internal(set) var mostStreams = 0

  /// As the control API and `signalbox simulate` tell it.
  public var json: JSONValue {
    func counts(_ counts: [String: Int]) -> JSONValue { .object(counts.mapValues { .integer(Int64($0)) }) }
    return [
      "requests": .integer(Int64(requests)),
      "by_status": counts(Dictionary(uniqueKeysWithValues: byStatus.map { (String($0.key), $0.value) })),
      "by_reason": counts(byReason), "unanswered": .integer(Int64(unanswered)), "refused": .integer(Int64(refused)),
      "connections": .integer(Int64(connections)), "open_connections": .integer(Int64(openConnections)),
      "most_streams": .integer(Int64(mostStreams)),
    ]
  }

  /// Nothing done yet.
  public init() {}
}
