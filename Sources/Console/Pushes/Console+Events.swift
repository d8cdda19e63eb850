import HTTPServer

extension Console {
  /// A stream of events for somebody who was let in. It ends soon after he no longer would be: the person was removed or
  /// disabled, the session ended, the token was revoked.
  func events(
    for principal: Principal, _ body: @escaping @Sendable (EventStream) async throws -> Void
  ) -> Response {
    .events { stream in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await body(stream) }
        group.addTask {
          let authentication = Authentication(store: store)
          repeat {
            try await configuration.streamPause()
          } while try await authentication.isGood(principal, now: clock())
        }
        // The first to end ends the other.
        defer { group.cancelAll() }
        try await group.next()
      }
    }
  }
}
