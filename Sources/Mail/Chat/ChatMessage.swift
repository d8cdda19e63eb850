/// A message for a chat, before any service's own form.
package struct ChatMessage: Sendable, Hashable {
  /// One thing that it tells of.
  package struct Item: Sendable, Hashable {
    /// In bold letters.
    package var heading: String
    /// What is said of it, one fact a line.
    package var lines: [String]
    /// Where to read more; nil: nowhere.
    package var link: String?
    /// What the link says.
    package var linkText: String
    package init(heading: String, lines: [String], link: String? = nil, linkText: String = "") {
      self.heading = heading
      self.lines = lines
      self.link = link
      self.linkText = linkText
    }
  }

  /// The first line; also what a phone shows in its notification.
  package var title: String
  /// A sentence below it; may be empty.
  package var lead: String
  /// The worst first.
  package var items: [Item]
  /// How it is said that items were left out, with `{count}` in it.
  package var more: String
  /// The same for programs, JSON: what the generic webhook sends.
  package var json: [UInt8]
  /// What is the same for each attempt.
  package var identifier: String
  package init(title: String, lead: String, items: [Item], more: String, json: [UInt8], identifier: String) {
    self.title = title
    self.lead = lead
    self.items = items
    self.more = more
    self.json = json
    self.identifier = identifier
  }

  /// The longest text of `render`ed items, the first ones, that has at most `limit` bytes; with a line that says how
  /// many are missing.
  func joined(limit: Int, separator: String, start: String, _ render: (Item) -> String) -> String {
    var text = start
    for (index, item) in items.enumerated() {
      let next = separator + render(item)
      let rest = separator + left(items.count - index)
      // Room for the last line must stay, unless this is the last item.
      let reserve = index == items.count - 1 ? 0 : rest.utf8.count
      guard text.utf8.count + next.utf8.count + reserve <= limit else { return text + rest }
      text += next
    }
    return text
  }

  func left(_ count: Int) -> String { more.replacing("{count}", with: "\(count)") }
}
