/// Where a push, a schedule or a run of a smoke test was asked for.
package enum PushSource: String, Sendable, CaseIterable {
  case web, api, cli, jpush
  /// `POST /fcm/send`.
  case legacy
  /// A schedule's rule.
  case schedule
  /// The run of a smoke test.
  case smoke
}
