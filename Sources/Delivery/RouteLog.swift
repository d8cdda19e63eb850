import Logging
import Providers
import Store
import Synchronization

/// Logs state changes only: one line when a provider fails, one when it recovers.
final class RouteLog: Sendable {
  private let credential: Credential
  private let log: Logger?
  /// The last logged failure; nil after a recovery.
  private let told = Mutex<String?>(nil)

  init(_ credential: Credential, _ log: Logger?) {
    self.credential = credential
    self.log = log
  }

  func note(_ state: ProviderState) {
    switch state {
    case .idle, .connecting: break
    case .ready:
      guard told.withLock({ $0.take() }) != nil else { return }
      log?.notice("push service available again", ["credential": credential.id, "endpoint": credential.endpoint])
    case .failing(let failure):
      let isNew = told.withLock { told in
        defer { told = failure.reason }
        return told != failure.reason
      }
      guard isNew else { return }
      log?.warning(
        failure.kind == .credential ? "push service refused the credential" : "push service unreachable",
        ["credential": credential.id, "endpoint": credential.endpoint, "reason": failure.reason])
    }
  }
}
