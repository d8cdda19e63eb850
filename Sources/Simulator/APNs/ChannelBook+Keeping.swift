package import JSON
import Model

// Channels as JSON, for storage beside the phones.

extension ChannelBook.Channel {
  package var kept: JSONValue {
    [
      "id": .string(id), "environment": .string(environment.rawValue), "app": .string(app),
      "policy": .integer(Int64(policy.rawValue)), "subscribers": .array(subscribers.sorted().map(JSONValue.integer)),
      "accepted": .integer(Int64(accepted)),
    ]
  }

  /// Restores a channel from what was ``kept``.
  ///
  /// - Returns: nil if this program did not write it.
  package init?(kept: JSONValue) {
    guard let id = kept["id"]?.string, let app = kept["app"]?.string,
      let environment = kept["environment"]?.string.flatMap(Model.Environment.init(rawValue:)),
      let policy = kept["policy"]?.integer.flatMap({ ChannelPolicy(rawValue: Int(clamping: $0)) })
    else { return nil }
    self.init(
      id: id, environment: environment, app: app, policy: policy,
      subscribers: Set((kept["subscribers"]?.array ?? []).compactMap(\.integer)),
      accepted: Int(clamping: kept["accepted"]?.integer ?? 0))
  }
}
