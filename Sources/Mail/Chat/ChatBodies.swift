/// Texts in the forms that the services have for them. What strangers wrote (a certificate's name) may neither mention
/// people nor make links.
enum ChatText {
  /// https://docs.slack.dev/messaging/formatting-message-text: three characters have a meaning everywhere.
  static func slack(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }

  /// The Markdown of DingTalk and WeCom has no reliable escapes: what makes links, mentions and code is put differently.
  static func markdown(_ text: String) -> String {
    let others: [Character: Character] = ["[": "(", "]": ")", "<": "‹", ">": "›", "`": "'", "*": "∗", "#": "＃"]
    return String(text.map { others[$0] ?? ($0.isNewline ? " " : $0) })
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

  /// Slack takes 50 blocks of 3000 characters.
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
      return facts.prefix(Self.textLimit - link.count) + link
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

  /// DingTalk takes 20 000 bytes.
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

  /// WeCom takes 4096 bytes.
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

  /// Feishu takes 20 kB; an item has some hundred bytes.
  private static let itemLimit = 25

  init(_ message: ChatMessage) {
    var rows: [[Tag]] = message.lead.isEmpty ? [] : [[Tag(text: message.lead)]]
    for item in message.items.prefix(Self.itemLimit) {
      rows.append([Tag(text: "▪ \(item.heading)")])
      rows += item.lines.map { [Tag(text: String($0.prefix(300)))] }
      if let link = item.link { rows.append([Tag(tag: "a", text: item.linkText, href: link)]) }
    }
    if message.items.count > Self.itemLimit {
      rows.append([Tag(text: message.left(message.items.count - Self.itemLimit))])
    }
    // Whoever reads in a language that is not there sees this one: one is enough.
    content = Content(post: ["zh_cn": Post(title: message.title, content: rows)])
  }
}
