package import Foundation
internal import OpenSSL

/// Services with webhooks, each with its own format, signature and answer. Raw values are stored.
package enum ChatService: String, Sendable, Hashable, CaseIterable {
  /// Our own JSON, signed.
  case webhook
  /// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
  case slack
  /// https://open.dingtalk.com/document/orgapp/custom-robot-access
  case dingtalk
  /// Feishu, and Lark outside China: https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot
  case feishu
  /// https://developer.work.weixin.qq.com/document/path/91770
  case wecom

  /// Whether a secret can sign the requests.
  package var signs: Bool { self == .webhook || self == .dingtalk || self == .feishu }

  /// The keyword to enter at a robot that only takes messages with one: every message to it has this word.
  package static let keyword = "Signalbox"

  /// Whether the service's robots can ask for a keyword.
  package var asksForKeyword: Bool { self == .dingtalk || self == .feishu }

  /// The request for a message.
  ///
  /// - Parameters:
  ///   - secret: signs the request; nil or empty: unsigned.
  ///   - now: for the signature: DingTalk and Feishu refuse one that is an hour old.
  package func request(_ message: ChatMessage, url: String, secret: String?, now: Date) -> WebRequest {
    let secret = secret.flatMap { $0.isEmpty ? nil : $0 }
    var message = message
    if asksForKeyword, !message.title.contains(Self.keyword) { message.title = "\(Self.keyword): \(message.title)" }
    let seconds = Int(now.timeIntervalSince1970.rounded(.down))
    switch self {
    case .webhook: return Self.signed(message, url: url, secret: secret, seconds: seconds)
    case .slack: return WebRequest(url: url, body: json(SlackBody(message)))
    case .dingtalk:
      var url = url
      if let secret {
        let milliseconds = Int((now.timeIntervalSince1970 * 1000).rounded(.down))
        let sign = Data(HMAC.sha256(key: Data(secret.utf8), Data("\(milliseconds)\n\(secret)".utf8)))
        url = WebAddress.adding(
          [("timestamp", "\(milliseconds)"), ("sign", sign.base64EncodedString())], to: url)
      }
      return WebRequest(url: url, body: json(DingTalkBody(message)))
    case .feishu:
      var body = FeishuBody(message)
      if let secret {
        body.timestamp = "\(seconds)"
        // The HMAC's key is time and secret, its text is empty.
        body.sign = Data(HMAC.sha256(key: Data("\(seconds)\n\(secret)".utf8), Data())).base64EncodedString()
      }
      return WebRequest(url: url, body: json(body))
    case .wecom: return WebRequest(url: url, body: json(WeComBody(message)))
    }
  }

  /// `X-Signalbox-Signature: t=1763640000,v1=<hex>`: HMAC-SHA256 with the secret over `<t>.<body>`.
  private static func signed(_ message: ChatMessage, url: String, secret: String?, seconds: Int) -> WebRequest {
    var headers = [(name: "X-Signalbox-Delivery", value: message.identifier)]
    if let secret {
      let code = HMAC.sha256(key: Data(secret.utf8), Data("\(seconds).".utf8) + Data(message.json))
      let digits = code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      headers.append((name: "X-Signalbox-Signature", value: "t=\(seconds),v1=\(digits)"))
    }
    return WebRequest(url: url, headers: headers, body: message.json)
  }

  private func json(_ body: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Texts and numbers can always be encoded.
    return (try? encoder.encode(body)).map(Array.init) ?? []
  }

  /// The service's answer for people.
  ///
  /// - Throws: `MailError` if the message was not accepted: an error status, or a success with an error code in its
  /// body, as DingTalk, Feishu and WeCom send it.
  package func read(_ answer: WebAnswer) throws(MailError) -> String {
    switch answer.status {
    case 200..<300: break
    case 429, 500...: throw MailError(.busy, answer.words, retryAfter: answer.retryAfter)
    case 401, 403: throw MailError(.signature, answer.words)
    default: throw MailError(.refused, answer.words)
    }
    switch self {
    case .webhook, .slack: return answer.words
    case .dingtalk, .wecom, .feishu:
      guard let code = Self.code(answer.body) else { throw MailError(.refused, answer.words) }
      guard code != 0 else { return answer.words }
      throw MailError(Self.meaning(code, answer.words), answer.words)
    }
  }

  /// `errcode` of DingTalk and WeCom; `code` of Feishu, `StatusCode` of its older answers.
  private static func code(_ body: [UInt8]) -> Int? {
    struct Answer: Decodable {
      var errcode: Int?
      var code: Int?
      var StatusCode: Int?
    }
    // Other services answer without JSON.
    let answer = try? JSONDecoder().decode(Answer.self, from: Data(body))
    return answer?.errcode ?? answer?.code ?? answer?.StatusCode
  }

  private static func meaning(_ code: Int, _ words: String) -> MailError.Code {
    switch code {
    // Rate limits: DingTalk 130101, 660026 and -1 (busy); WeCom 45009; Feishu 11232. Not Feishu's 9499, a refused body,
    // which a retry does not help.
    case -1, 130_101, 660_026, 45_009, 11_232: .busy
    // Signature or token: DingTalk 300001; WeCom 93000; Feishu 19021, 19001.
    case 300_001, 93_000, 19_021, 19_001: .signature
    case 19_024: .keyword
    // WeCom 60020, Feishu 19022.
    case 60_020, 19_022: .address
    // DingTalk: any of the robot's three security settings; which one is only in the text.
    case 310_000: security(words.lowercased())
    default: .refused
    }
  }

  /// The security setting that a text of DingTalk names, in English or Chinese.
  private static func security(_ words: String) -> MailError.Code {
    if ["keyword", "关键词"].contains(where: words.contains) { return .keyword }
    if ["whitelist", "白名单"].contains(where: words.contains) { return .address }
    // The signature and its time.
    if ["sign", "签名", "timestamp", "时间戳"].contains(where: words.contains) { return .signature }
    return .robot
  }
}
