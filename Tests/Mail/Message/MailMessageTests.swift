import Foundation
import TestSupport
import Testing

@testable import Mail

@Suite("A mail as it travels")
struct MailMessageTests {
  private static func mail(
    subject: String = "Hello", name: String = "Signalbox", text: String = "Hello", html: String? = nil
  ) throws -> MailMessage {
    MailMessage(
      from: try #require(MailAddress("box@example.com", name: name)), to: try #require(MailAddress("ops@example.org")),
      subject: subject, text: text, html: html, identifier: "2f6c-1", date: Date(timeIntervalSince1970: 1_795_176_000),
      language: "en")
  }

  /// What Python's own parser reads out of it: not our idea of a mail.
  private static func read(_ mail: MailMessage) throws -> [String: String] {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    let (input, output) = (folder.appendingPathComponent("mail.eml"), folder.appendingPathComponent("out.json"))
    try Data(mail.bytes).write(to: input)
    let script = """
      import sys, json, email, email.policy
      m = email.message_from_bytes(open(sys.argv[1], 'rb').read(), policy=email.policy.default)
      out = {k.lower(): str(v) for k, v in m.items()}
      out['#headers'] = str(len(m.items())); out['#defects'] = ' '.join(map(repr, m.defects))
      for kind in ('plain', 'html'):
          part = m.get_body((kind,))
          if part is not None: out[kind] = part.get_content().replace('\\r\\n', '\\n'); out['#defects'] += ' '.join(map(repr, part.defects))
      json.dump(out, open(sys.argv[2], 'w'))
      """
    try OtherProgram.runNow("/usr/bin/python3", ["-c", script, input.path, output.path])
    return try JSONDecoder().decode([String: String].self, from: Data(contentsOf: output))
  }

  @Test(
    "subjects of every kind are read back as they were, without a line end",
    arguments: [
      "Hello", "证书“商店”将在 30 天后过期", String(repeating: "证书", count: 120), "Ends  with two blanks ",
      String(repeating: "word ", count: 60) + "end", String(repeating: "x", count: 300), "=?utf-8?B?SGk=?=",
      "Grüße, 👨‍👩‍👧‍👦 and ﷺ", "",
    ])
  func subjects(subject: String) throws {
    let mail = try Self.mail(subject: subject)
    let text = String(decoding: mail.bytes, as: UTF8.self)
    for line in text.components(separatedBy: "\r\n") { #expect(line.utf8.count <= 78, "\(line)") }
    #expect(text.utf8.allSatisfy { $0 < 0x80 })
    #expect(!text.replacing("\r\n", with: "").contains { $0 == "\r" || $0 == "\n" })
    #expect(try Self.read(mail)["subject"] == subject)
  }

  @Test(
    "no text adds a header field",
    arguments: ["a\r\nBcc: evil@example.com", "a\nBcc: evil@example.com\n\nbody", "a\u{2028}b\u{0}c", "\r\n\r\n"])
  func injection(text: String) throws {
    var mail = try Self.mail(subject: text, name: text)
    mail.identifier = text
    mail.language = text
    let read = try Self.read(mail)
    #expect(read["bcc"] == nil)
    #expect(read["#headers"] == "10")
    #expect(read["plain"] == "Hello\n")
  }

  @Test(
    "texts come out as they went in",
    arguments: [
      "Hello\nWorld\n", "Blank at the end \nTab\t\nequals = sign\n", String(repeating: "long ", count: 500) + "\n",
      "证书将在 30 天后过期。\n" + String(repeating: "很长的一行", count: 200) + "\n", ".\n..\n.dot\n",
      "Grüße aus Köln, nicht nur ASCII text\n",
    ])
  func texts(text: String) throws {
    let mail = try Self.mail(text: text, html: "<p>\(text)</p>\n")
    for line in String(decoding: mail.bytes, as: UTF8.self).components(separatedBy: "\r\n") {
      #expect(line.utf8.count <= 78)
    }
    let read = try Self.read(mail)
    #expect(read["plain"]?.trimmingCharacters(in: .newlines) == text.trimmingCharacters(in: .newlines))
    #expect(read["html"]?.contains(text.trimmingCharacters(in: .newlines)) == true)
    #expect(read["#defects"] == "")
    #expect(read["content-type"]?.hasPrefix("multipart/alternative") == true)
  }

  @Test("date, id and addresses stand as RFC 5322 wants them")
  func fields() throws {
    let read = try Self.read(Self.mail(name: "Signal, box \"A\""))
    #expect(read["date"] == "Fri, 20 Nov 2026 12:00:00 +0000")
    #expect(read["message-id"] == "<2f6c-1@example.com>")
    #expect(read["from"] == "\"Signal, box \\\"A\\\"\" <box@example.com>")
    #expect(read["to"] == "ops@example.org")
    #expect(try Self.read(Self.mail(name: "信号箱"))["from"] == "信号箱 <box@example.com>")
  }

  @Test(
    "addresses",
    arguments: [
      ("ops@example.com", true), ("a.b+c@x-y.example", true), ("ops", false), ("@example.com", false),
      ("a@b@c", false), ("a b@example.com", false), ("a@example.com>\r\nRCPT TO:<b@c", false), ("ä@example.com", false),
      ("a..b@example.com", false), (String(repeating: "a", count: 65) + "@example.com", false), ("a@", false),
      ("<a@b.c>", false),
    ])
  func addresses(text: String, isGood: Bool) { #expect((MailAddress(text) != nil) == isGood) }
}

@Suite("What an SMTP server says")
struct SMTPDialogueTests {
  @Test(
    "a refusal means something else at each step",
    arguments: [
      (["EHLO x"], ["250 ok"], nil), (["AUTH PLAIN"], ["535 5.7.8 bad"], .authentication),
      (["AUTH PLAIN"], ["454 4.7.0 later"], .busy), (["MAIL FROM:<a@b>"], ["530 5.7.0 sign in"], .authentication),
      (["MAIL FROM:<a@b>"], ["550 no"], .sender),
      (["RCPT TO:<a@b>"], ["550-5.1.1 nobody", "550 of that name"], .recipient),
      (["RCPT TO:<a@b>"], ["450 greylisted"], .busy), (["DATA"], ["354 go"], nil),
      (["DATA"], ["354 go", "552 too big"], .refused),
      (["STARTTLS"], ["454 not now"], .tls), ([], ["554 go away"], .refused),
    ] as [([String], [String], MailError.Code?)])
  func meaning(sent: [String], received: [String], code: MailError.Code?) {
    var dialogue = SMTPDialogue()
    for line in sent { dialogue.sent(line + "\r\n") }
    for line in received { dialogue.received(line + "\r\n") }
    #expect(dialogue.failure == code)
    if code != nil { #expect(dialogue.words.contains(received.last ?? "")) }
  }

  @Test("what follows AUTH is not kept")
  func secret() {
    var dialogue = SMTPDialogue()
    dialogue.sent("AUTH PLAIN c2VjcmV0\r\n")
    dialogue.sent("c2VjcmV0\r\n")
    dialogue.received("535 no\r\n")
    #expect(dialogue.verb == .AUTH)
    #expect(!"\(dialogue)".contains("c2Vj"))
  }
}
