package import JSON

/// What a notification or a request is searched for by its content.
package struct ContentQuery: Sendable, Hashable {
  /// The whole title.
  package var title: String?
  /// The whole text of the alert, also of an alert that is a plain string.
  package var body: String?
  /// A part of a text, in upper or lower case.
  package var part: String?
  /// A place in the JSON that has a value, or this one.
  package var place: JSONPointer?
  /// As text, or as JSON; nil: any.
  package var value: String?

  package init() {}

  /// - Parameters:
  ///   - texts: where a part may stand.
  ///   - json: nil: it is none.
  func wants(
    _ alert: @autoclosure () -> (title: String?, body: String?), texts: @autoclosure () -> [String],
    json: @autoclosure () -> JSONValue?
  ) -> Bool {
    if title != nil || body != nil {
      let alert = alert()
      guard title == nil || title == alert.title, body == nil || body == alert.body else { return false }
    }
    if let part = part?.lowercased() {
      guard texts().contains(where: { $0.lowercased().contains(part) }) else { return false }
    }
    guard let place else { return true }
    guard let found = json()?[place] else { return false }
    guard let value else { return true }
    if found.string == value { return true }
    // What is no JSON can only be a text.
    return (try? JSONValue(parsing: Array(value.utf8))) == found
  }
}

/// Waits until one of these changes is enough, at most for `limit`, or until the caller gives up.
func wait<Change: Sendable>(
  for changes: AsyncStream<Change>, within limit: Duration, until isEnough: @escaping @Sendable (Change) -> Bool
) async {
  await withTaskGroup(of: Void.self) { group in
    group.addTask {
      for await change in changes where isEnough(change) { return }
    }
    group.addTask {
      // Cancelled: the other task was first, or the caller no longer waits.
      do { try await Task.sleep(for: limit) } catch { return }
    }
    await group.next()
    group.cancelAll()
  }
}
