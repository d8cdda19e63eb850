/// Something that a test waited for did not come.
package struct NeverHappened: Error, CustomStringConvertible {
  package let description: String
}

/// Looks again and again until something is so that nobody reports, and lets others run between. Throws, instead of
/// looking for ever, when `limit` is over or the test is cancelled.
package func waitUntil(
  _ what: String = "what the test waits for", within limit: Duration = .seconds(60),
  isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + limit
  while try await !condition() {
    try Task.checkCancellation()
    guard ContinuousClock.now < end else { throw NeverHappened(description: "\(what): not within \(limit)") }
    await Task.yield()
  }
}
