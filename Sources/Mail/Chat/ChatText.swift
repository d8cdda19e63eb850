internal import Foundation

/// Escapes text for each service. Untrusted text (a certificate's name) must not mention people or make links.
enum ChatText {
  /// Escapes three special characters: https://docs.slack.dev/messaging/formatting-message-text.
  static func slack(_ text: String) -> String {
    escaped(text) { ["&": "&amp;", "<": "&lt;", ">": "&gt;"][$0] }
  }

  /// The Markdown of DingTalk and WeCom has no reliable escapes: characters of links, mentions and code are replaced.
  static func markdown(_ text: String) -> String {
    let others: [Unicode.Scalar: String] = [
      "[": "(", "]": ")", "<": "‹", ">": "›", "`": "'", "*": "∗", "#": "＃",
    ]
    return escaped(text) { others[$0] ?? ($0.properties.isWhitespace ? " " : nil) }
  }

  /// By scalar, because a combining mark would hide a special character within a Character.
  private static func escaped(_ text: String, _ other: (Unicode.Scalar) -> String?) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if let other = other(scalar) {
        escaped.append(contentsOf: other.unicodeScalars)
      } else {
        escaped.append(scalar)
      }
    }
    return String(escaped)
  }
}

struct SlackBody: Encodable {
  struct Text: Encodable {
    var type = "mrkdwn"
    var text: String
  }
  struct Block: Encodable {
    var type = "section"
    var text: Text
  }
  let text: String
  let blocks: [Block]

  /// Slack accepts 50 blocks of 3000 characters.
  private static let blockLimit = 48
  private static let textLimit = 2900

  init(_ message: ChatMessage) {
    text = ChatText.slack(message.title)
    var parts = [
      "*\(ChatText.slack(message.title))*" + (message.lead.isEmpty ? "" : "\n\(ChatText.slack(message.lead))")
    ]
    parts += message.items.prefix(Self.blockLimit).map { item in
      let link = item.link.map { "\n<\($0)|\(ChatText.slack(item.linkText))>" } ?? ""
      let facts = (["*\(ChatText.slack(item.heading))*"] + item.lines.map(ChatText.slack)).joined(separator: "\n")
      return facts.prefix(max(0, Self.textLimit - link.count)) + link
    }
    if message.items.count > Self.blockLimit { parts.append(message.left(message.items.count - Self.blockLimit)) }
    blocks = parts.map { Block(text: Text(text: String($0.prefix(Self.textLimit)))) }
  }
}

struct DingTalkBody: Encodable {
  struct Markdown: Encodable {
    let title: String
    let text: String
  }
  let msgtype = "markdown"
  let markdown: Markdown

  /// DingTalk accepts 20 000 bytes.
  private static let limit = 18_000

  init(_ message: ChatMessage) {
    let start =
      "### \(ChatText.markdown(message.title))" + (message.lead.isEmpty ? "" : "\n\n\(ChatText.markdown(message.lead))")
    let text = message.joined(limit: Self.limit, separator: "\n\n", start: start) { item in
      let link = item.link.map { ["[\(ChatText.markdown(item.linkText))](\($0))"] } ?? []
      return (["**\(ChatText.markdown(item.heading))**"] + item.lines.map(ChatText.markdown) + link).joined(
        separator: "  \n")
    }
    markdown = Markdown(title: message.title, text: text)
  }
}

struct WeComBody: Encodable {
  struct Markdown: Encodable { let content: String }
  let msgtype = "markdown"
  let markdown: Markdown

  /// WeCom accepts 4096 bytes.
  private static let limit = 4000

  init(_ message: ChatMessage) {
    let start =
      "**\(ChatText.markdown(message.title))**" + (message.lead.isEmpty ? "" : "\n\(ChatText.markdown(message.lead))")
    markdown = Markdown(
      content: message.joined(limit: Self.limit, separator: "\n\n", start: start) { item in
        let link = item.link.map { ["[\(ChatText.markdown(item.linkText))](\($0))"] } ?? []
        return
          (["**\(ChatText.markdown(item.heading))**"] + item.lines.map { ">\(ChatText.markdown($0))" } + link).joined(
            separator: "\n")
      })
  }
}

struct FeishuBody: Encodable {
  struct Tag: Encodable {
    var tag = "text"
    var text: String
    var href: String?
  }
  struct Post: Encodable {
    let title: String
    let content: [[Tag]]
  }
  struct Content: Encodable { let post: [String: Post] }
  var timestamp: String?
  var sign: String?
  let msg_type = "post"
  let content: Content

  /// Feishu accepts 20 kB.
  private static let limit = 18_000
  /// Keeps room for the most urgent item, however long its text is.
  private static let lineLimit = 300

  init(_ message: ChatMessage) {
    var rows: [[Tag]] = message.lead.isEmpty ? [] : [[Tag(text: message.lead)]]
    var bytes = Self.bytes(rows) + message.title.utf8.count
    for (index, item) in message.items.enumerated() {
      let lines = ["▪ \(item.heading)"] + item.lines
      var next = lines.map { [Tag(text: String($0.prefix(Self.lineLimit)))] }
      if let link = item.link { next.append([Tag(tag: "a", text: item.linkText, href: link)]) }
      let rest = [[Tag(text: message.left(message.items.count - index))]]
      bytes += Self.bytes(next)
      // Keep room for the last line, unless this is the last item.
      let reserve = index == message.items.count - 1 ? 0 : Self.bytes(rest)
      guard bytes + reserve <= Self.limit else {
        rows += rest
        break
      }
      rows += next
    }
    // Readers of other languages see this one too.
    content = Content(post: ["zh_cn": Post(title: message.title, content: rows)])
  }

  /// The size in the body, where a quotation mark takes two bytes.
  private static func bytes(_ rows: [[Tag]]) -> Int {
    // Texts can always be encoded.
    (try? JSONEncoder().encode(rows).count) ?? 0
  }
}
