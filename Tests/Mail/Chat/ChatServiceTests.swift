import Foundation
import Reactor
import TestSupport
import Testing

@testable import Mail

@Suite("Webhooks: form, signature, answer")
struct ChatServiceTests {
  private static let noon = Date(timeIntervalSince1970: 1_795_176_000.5)

  private static func message(_ count: Int = 1, name: String = "Shop <!channel> [x](http://evil) & *") -> ChatMessage {
    ChatMessage(
      title: "Shop: 30 days", lead: "证书快过期了",
      items: (0..<count).map { number in
        ChatMessage.Item(
          heading: "\(name) \(number)", lines: ["until 2026-12-20", "serial 0A"],
          link: "https://box.example/certificates/\(number)", linkText: "Open")
      }, more: "and {count} more", json: Array(#"{"kind":"reminder"}"#.utf8), identifier: "m-1")
  }

  private static func object(_ request: WebRequest) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any])
  }

  @Test("the generic webhook is signed over time and body")
  func generic() throws {
    let request = ChatService.webhook.request(
      Self.message(), url: "https://x.example/h", secret: "s3cret", now: Self.noon)
    #expect(request.url == "https://x.example/h")
    #expect(request.headers.first?.value == "m-1")
    let code = try OpenSSLCommand.hmac(key: "s3cret", Data(#"1795176000.{"kind":"reminder"}"#.utf8))
    let digits = code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    #expect(request.headers.last?.value == "t=1795176000,v1=\(digits)")
    let bare = ChatService.webhook.request(Self.message(), url: "https://x.example/h", secret: "", now: Self.noon)
    #expect(bare.headers.count == 1)
  }

  @Test("DingTalk: time in milliseconds and signature stand in the address")
  func dingtalk() throws {
    let url = "https://oapi.dingtalk.com/robot/send?access_token=abc"
    let request = ChatService.dingtalk.request(Self.message(), url: url, secret: "SECx", now: Self.noon)
    let sign = try OpenSSLCommand.hmac(key: "SECx", Data("1795176000500\nSECx".utf8)).base64EncodedString()
    let items = URLComponents(string: request.url)?.queryItems ?? []
    #expect(items.map(\.name) == ["access_token", "timestamp", "sign"])
    #expect(items.map { $0.value ?? "" } == ["abc", "1795176000500", sign])
    #expect(!request.url.hasSuffix("="), "what base64 ends with is escaped")
    let body = try Self.object(request)
    #expect(body["msgtype"] as? String == "markdown")
    let text = (body["markdown"] as? [String: String])?["text"] ?? ""
    #expect(text.contains("证书快过期了") && text.contains("(https://box.example/certificates/0)"))
    #expect(!text.contains("[x](http"), "a stranger's name makes no link")
  }

  @Test("Feishu: the signature is in the body, and its key is time and secret")
  func feishu() throws {
    let request = ChatService.feishu.request(
      Self.message(), url: "https://open.feishu.cn/h", secret: "s", now: Self.noon)
    let body = try Self.object(request)
    #expect(body["timestamp"] as? String == "1795176000")
    let sign = try OpenSSLCommand.hmac(key: "1795176000\ns", Data()).base64EncodedString()
    #expect(body["sign"] as? String == sign)
    #expect(body["msg_type"] as? String == "post")
    let bare = try Self.object(
      ChatService.feishu.request(Self.message(), url: "https://x", secret: nil, now: Self.noon))
    #expect(bare["sign"] == nil && bare["timestamp"] == nil)
  }

  @Test("Slack: untrusted names mention no one")
  func slack() throws {
    let body = try Self.object(
      ChatService.slack.request(Self.message(60), url: "https://x", secret: nil, now: Self.noon))
    let blocks = try #require(body["blocks"] as? [[String: Any]])
    #expect(blocks.count == 50)
    let texts = blocks.compactMap { ($0["text"] as? [String: String])?["text"] }
    #expect(texts[1].contains("&lt;!channel&gt;") && !texts[1].contains("<!channel>"))
    #expect(texts[49] == "and 12 more")
    #expect(texts.allSatisfy { $0.count <= 3000 })
  }

  @Test("Slack: a link of any length is survived")
  func slackLink() throws {
    let item = ChatMessage.Item(
      heading: "Shop", lines: [], link: "https://box.example/" + String(repeating: "x", count: 4000), linkText: "Open")
    let message = ChatMessage(
      title: "Shop", lead: "", items: [item], more: "and {count} more", json: [], identifier: "m-1")
    let body = try Self.object(ChatService.slack.request(message, url: "https://x", secret: nil, now: Self.noon))
    #expect((body["blocks"] as? [Any])?.count == 2)
  }

  @Test("a text that is too long states how much is missing", arguments: [ChatService.dingtalk, .wecom, .feishu])
  func long(service: ChatService) throws {
    let request = service.request(Self.message(400), url: "https://x", secret: nil, now: Self.noon)
    #expect(request.body.count < 20_000)
    let text = String(decoding: request.body, as: UTF8.self)
    #expect(text.contains(" more"))
    if service == .wecom {
      let content = (try Self.object(request)["markdown"] as? [String: String])?["content"] ?? ""
      #expect(content.utf8.count <= 4096 && content.utf8.count > 3500)
    }
  }

  @Test("Feishu: texts are cut at 20 kB, not at a count", arguments: [1, 25, 30, 100])
  func feishuBytes(count: Int) throws {
    let name = String(repeating: "证书名“\u{22}”", count: 25)
    let request = ChatService.feishu.request(
      Self.message(count, name: name), url: "https://x", secret: "s", now: Self.noon)
    #expect(request.body.count <= 20_000, "\(request.body.count)")
    let text = String(decoding: request.body, as: UTF8.self)
    #expect(text.contains("and ") == (count >= 30))
    #expect(text.components(separatedBy: "▪ ").count - 1 > min(count, 15) - 1, "and much is said")
    let short = ChatService.feishu.request(Self.message(40, name: "x"), url: "https://x", secret: nil, now: Self.noon)
    #expect(String(decoding: short.body, as: UTF8.self).components(separatedBy: "▪ ").count == 41)
  }

  @Test("a mark behind a sign hides it from no service", arguments: [ChatService.slack, .dingtalk, .wecom])
  func combined(service: ChatService) throws {
    let name = "<\u{301}!channel> [\u{301}x](http://evil)"
    let request = service.request(Self.message(1, name: name), url: "https://x", secret: nil, now: Self.noon)
    let text = String(decoding: request.body, as: UTF8.self).unicodeScalars.map(\.value)
    for pair in [[0x3C, 0x301], [0x5B, 0x301]] as [[UInt32]] where service != .slack || pair[0] == 0x3C {
      #expect(!zip(text, text.dropFirst()).contains { $0 == pair[0] && $1 == pair[1] })
    }
  }

  @Test(
    "an answer is a success only if the service says so",
    arguments: [
      (ChatService.slack, 200, "ok", nil), (.slack, 404, "no_service", .refused), (.slack, 429, "", .busy),
      (.webhook, 204, "", nil), (.webhook, 302, "", .refused), (.webhook, 503, "", .busy),
      (.webhook, 401, "", .signature),
      (.dingtalk, 200, #"{"errcode":0,"errmsg":"ok"}"#, nil),
      (.dingtalk, 200, #"{"errcode":310000,"errmsg":"sign not match"}"#, .signature),
      (.dingtalk, 200, #"{"errcode":310000,"errmsg":"签名不匹配"}"#, .signature),
      (.dingtalk, 200, #"{"errcode":310000,"errmsg":"invalid timestamp"}"#, .signature),
      (.dingtalk, 200, #"{"errcode":310000,"errmsg":"keywords not in content"}"#, .keyword),
      (.dingtalk, 200, #"{"errcode":310000,"errmsg":"关键词不匹配"}"#, .keyword),
      (.dingtalk, 200, #"{"errcode":310000,"errmsg":"ip 203.0.113.9 not in whitelist"}"#, .address),
      (.dingtalk, 200, #"{"errcode":310000,"errmsg":"不在ip白名单"}"#, .address),
      (.dingtalk, 200, #"{"errcode":310000,"errmsg":"description: robot"}"#, .robot),
      (.dingtalk, 200, #"{"errcode":300001,"errmsg":"token is not exist"}"#, .signature),
      (.dingtalk, 200, #"{"errcode":130101,"errmsg":"send too fast"}"#, .busy), (.dingtalk, 200, "<html>", .refused),
      (.feishu, 200, #"{"StatusCode":0,"StatusMessage":"success"}"#, nil),
      (.feishu, 200, #"{"code":0,"data":{},"msg":"success"}"#, nil),
      (.feishu, 200, #"{"code":9499,"msg":"Bad Request"}"#, .refused),
      (.feishu, 200, #"{"code":11232,"msg":"frequency limited"}"#, .busy),
      (.feishu, 200, #"{"code":19021,"msg":"sign match fail"}"#, .signature),
      (.feishu, 200, #"{"code":19024,"msg":"Key Words Not Found"}"#, .keyword),
      (.feishu, 200, #"{"code":19022,"msg":"Ip Not Allowed"}"#, .address),
      (.wecom, 200, #"{"errcode":60020,"errmsg":"not allow to access from your ip"}"#, .address),
      (.wecom, 200, #"{"errcode":0,"errmsg":"ok"}"#, nil),
      (.wecom, 200, #"{"errcode":93000,"errmsg":"invalid webhook url"}"#, .signature),
      (.wecom, 200, #"{"errcode":45009,"errmsg":"too often"}"#, .busy), (.wecom, 200, "{}", .refused),
    ] as [(ChatService, Int, String, MailError.Code?)])
  func answers(service: ChatService, status: Int, body: String, code: MailError.Code?) {
    let answer = WebAnswer(status: status, body: Array(body.utf8), retryAfter: 7)
    do throws(MailError) {
      _ = try service.read(answer)
      #expect(code == nil)
    } catch {
      #expect(error.code == code)
      if code == .busy, status != 200 { #expect(error.retryAfter == 7) }
    }
  }

  @Test(
    "every message to a robot that can ask for a keyword has the same one, whatever it is about",
    arguments: [ChatService.dingtalk, .feishu])
  func keyword(service: ChatService) throws {
    for title in ["Shop: 30 days", "证书还有 30 天到期", "Signalbox: test message", "signalbox 测试"] {
      var message = Self.message()
      message.title = title
      let body = String(
        decoding: service.request(message, url: "https://x", secret: nil, now: Self.noon).body, as: UTF8.self)
      #expect(body.contains(ChatService.keyword), "\(title)")
      #expect(!body.contains("Signalbox: Signalbox"))
    }
    let other = String(
      decoding: ChatService.wecom.request(Self.message(), url: "https://x", secret: nil, now: Self.noon).body,
      as: UTF8.self)
    #expect(!other.contains(ChatService.keyword), "no keyword, no prefix")
  }

  @Test(
    "what is wrong with a webhook's URL is named",
    arguments: [
      ("https://user:pass@hooks.example.com/x", .user), ("https://user@hooks.example.com/x", .user),
      ("https://hooks.example.com/x#part", .fragment),
      ("https://例子.example/x", .letters(ascii: "https://xn--fsqu00a.example/x")),
      ("https://hooks.example.com/ä", .letters(ascii: "https://hooks.example.com/%C3%A4")),
      ("https://hooks.example.com/a b", .blank),
      ("https://hooks.example.com/\u{200B}x", .letters(ascii: "https://hooks.example.com/%E2%80%8Bx")),
      ("https://hooks.example.com/x ", .blank), ("https://hooks.example.com:99999/x", .port),
      ("http://hooks.example.com/x", .scheme), ("hooks.example.com/x", .scheme), ("", .scheme),
      ("https://x.example/" + String(repeating: "x", count: 2048), .length),
      ("https://hooks.example.com:8443/x?y=1", nil),
    ] as [(String, WebAddress.Trouble?)])
  func troubles(url: String, trouble: WebAddress.Trouble?) { #expect(WebAddress.trouble(url) == trouble) }

  @Test("http:// goes to the hosts that are named for it, and to no other")
  func plainHosts() throws {
    let plain = try TargetList(["host.docker.internal", "*.svc.local", "10.0.0.0/8"])
    for (url, isGood) in [
      ("http://host.docker.internal:3000/x", true), ("http://grafana.svc.local/x", true), ("http://10.1.2.3/x", true),
      ("http://svc.local/x", false), ("http://hooks.example.com/x", false), ("http://11.1.2.3/x", false),
      ("http://host.docker.internal.evil.example/", false), ("http://u:p@10.1.2.3/x", false),
    ] { #expect(WebAddress.isUsable(url, plain: plain) == isGood, "\(url)") }
  }

  @Test(
    "where a webhook may go",
    arguments: [
      ("https://hooks.slack.com/services/T/B/x", true), ("http://127.0.0.1:8080/x", true), ("http://localhost/x", true),
      ("http://intranet/x", false), ("ftp://x", false), ("https://", false), ("https://a b", false),
      ("https://user:pw@x.example/", false), ("https://x.example/\r\nHost: y", false), ("file:///etc/passwd", false),
      ("http://127.0.0.1.evil.example/", false),
    ])
  func places(url: String, isGood: Bool) { #expect(WebAddress.isUsable(url) == isGood) }
}
