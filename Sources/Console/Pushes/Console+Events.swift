import HTTPServer

extension Console {
  /// An event stream for an authenticated principal. It ends soon after the principal loses access: the user was
  /// removed or disabled, the session ended, or the token was revoked.
  func events(
    for principal: Principal, _ body: @escaping @Sendable (EventStream) async throws -> Void
  ) -> Response {
    .events { stream in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await body(stream) }
        group.addTask {
          repeat {
            try await configuration.streamPause()
          } while try await authentication.isGood(principal, now: clock())
        }
        // Whichever task ends first cancels the other.
        defer { group.cancelAll() }
        try await group.next()
      }
    }
  }
}
