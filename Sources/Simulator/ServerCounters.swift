package import JSON
import Model

/// The counters of a simulated server since its start.
package struct ServerCounters: Sendable, Hashable {
  /// Complete requests.
  package internal(set) var requests = 0
  /// Answers by HTTP status.
  package internal(set) var byStatus: [Int: Int] = [:]
  /// Error answers by reason.
  package internal(set) var byReason: [String: Int] = [:]
  /// Requests that a fault left unanswered.
  package internal(set) var unanswered = 0
  /// Requests that a fault reset as not processed.
  package internal(set) var refused = 0
  /// Clients that finished their handshake.
  package internal(set) var connections = 0
  package internal(set) var openConnections = 0
  /// The most concurrent streams of one connection.
  package internal(set) var mostStreams = 0
}

extension ServerCounters: JSONObject {
  /// The format of the control API and of `signalbox simulate`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("requests", requests)
    json.object("by_status") { json in
      for (status, count) in byStatus.sorted(by: { $0.key < $1.key }) {
        json.key(dynamic: String(status))
        json.integer(Int64(count))
      }
    }
    json.object("by_reason") { json in
      for (reason, count) in byReason.sorted(by: { $0.key < $1.key }) {
        json.key(dynamic: reason)
        json.integer(Int64(count))
      }
    }
    json.member("unanswered", unanswered)
    json.member("refused", refused)
    json.member("connections", connections)
    json.member("open_connections", openConnections)
    json.member("most_streams", mostStreams)
  }
}
