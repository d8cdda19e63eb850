/// A chat message independent of the service.
package struct ChatMessage: Sendable, Hashable {
  package struct Item: Sendable, Hashable {
    /// Bold.
    package var heading: String
    /// One fact per line.
    package var lines: [String]
    /// Details; nil: no link.
    package var link: String?
    package var linkText: String
    package init(heading: String, lines: [String], link: String? = nil, linkText: String = "") {
      self.heading = heading
      self.lines = lines
      self.link = link
      self.linkText = linkText
    }
  }

  /// The first line, also shown in phone notifications.
  package var title: String
  /// A sentence below the title; may be empty.
  package var lead: String
  /// The most urgent first.
  package var items: [Item]
  /// The text about omitted items, with `{count}`.
  package var more: String
  /// The JSON of the generic webhook.
  package var json: [UInt8]
  /// The same for each attempt.
  package var identifier: String
  package init(title: String, lead: String, items: [Item], more: String, json: [UInt8], identifier: String) {
    self.title = title
    self.lead = lead
    self.items = items
    self.more = more
    self.json = json
    self.identifier = identifier
  }

  /// As many rendered items as fit into `limit` bytes, with a line that tells how many are missing.
  func joined(limit: Int, separator: String, start: String, _ render: (Item) -> String) -> String {
    var text = start
    for (index, item) in items.enumerated() {
      let next = separator + render(item)
      let rest = separator + left(items.count - index)
      // Keep room for the last line, unless this is the last item.
      let reserve = index == items.count - 1 ? 0 : rest.utf8.count
      guard text.utf8.count + next.utf8.count + reserve <= limit else { return text + rest }
      text += next
    }
    return text
  }

  func left(_ count: Int) -> String { more.replacing("{count}", with: "\(count)") }
}
