package import Model

/// What a provider made of one push to one device.
package enum SendResult: Sendable, Hashable {
  /// Final: accepted, rejected, or unknown.
  case outcome(Outcome)
  /// The provider could not take it now: it may be sent again, with the same id.
  case retry(RetryCause)
  /// It never left: the rest of a batch that was cancelled, or stopped because the credential is refused.
  case notSent(reason: String)
}

/// Why a push may be sent again.
package struct RetryCause: Sendable, Hashable {
  /// HTTP status; 0 if the push was never taken by the server.
  package let status: Int
  /// In the provider's words.
  package let reason: String
  /// How long the provider asks to wait, if it says so.
  package let retryAfter: Duration?
  package init(status: Int, reason: String, retryAfter: Duration? = nil) {
    self.status = status
    self.reason = reason
    self.retryAfter = retryAfter
  }
}

/// Results of one push, in the order in which they came.
package struct SendReport: Sendable {
  /// The push, as its batch named it.
  package let push: Int64
  /// Each device of a batch stands in exactly one report, once.
  package let results: [(device: Int64, result: SendResult)]
  package init(push: Int64, results: [(device: Int64, result: SendResult)]) {
    self.push = push
    self.results = results
  }
}
