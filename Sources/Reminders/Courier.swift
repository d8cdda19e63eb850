package import Foundation
package import Mail
internal import Mustache
package import Reactor
package import Store
internal import Synchronization

/// Makes messages out of templates, and gives them to mail servers and webhooks.
package final class Courier: Sendable {
  /// Every language of mails.
  package let texts: MailTexts
  let templates: TemplateLibrary
  private let links: Mutex<String?>
  private let pool: BlockingPool

  /// Reads templates and texts.
  ///
  /// - Parameters:
  ///   - folder: `Templates/mail`.
  ///   - pool: where connections are waited for; its threads are all that can be open at a time.
  /// - Throws: `TemplateError`; what reading the files throws.
  package init(folder: String, address: String?, pool: BlockingPool, isStrict: Bool = false) throws {
    templates = try TemplateLibrary(directory: folder, missingKey: isStrict ? .error : .empty)
    texts = try MailTexts(folder: folder + "/locales")
    links = Mutex(address)
    self.pool = pool
  }

  /// What links begin with, as `https://push.example.com`; nil: mails have no links.
  package var address: String? { links.withLock { $0 } }

  /// Lets links begin with `address`, unless another was given: a server knows where it listens only once it does.
  package func link(to address: String) { links.withLock { $0 = $0 ?? address } }

  /// Sends a message.
  ///
  /// - Parameters:
  ///   - mail: the mail server; nil: none is set up, and e-mail fails.
  /// - Returns: what the other side said when it took the message over.
  /// - Throws: `MailError`.
  package func send(
    _ content: ReminderContent, over channel: Receiver.Channel, to secrets: Receiver.Secrets, mail: MailSettings?
  ) async throws -> String {
    guard channel == .email else {
      guard let service = ChatService(rawValue: channel.rawValue) else {
        throw MailError(.settings, "unknown channel")
      }
      let request = service.request(content.chat, url: secrets.address, secret: secrets.secret, now: content.now)
      return try await pool.run { try service.read(WebTransport().post(request)) }
    }
    guard let mail else { throw MailError(.settings, "no mail server is set up") }
    guard let to = MailAddress(secrets.address) else {
      throw MailError(.settings, "“\(secrets.address)” is not an email address")
    }
    let message = try message(content, from: mail.from, to: to)
    return try await pool.run { try SMTPTransport(mail.server).send(message) }
  }

  /// The mail of a content.
  ///
  /// - Throws: `TemplateError`.
  package func message(_ content: ReminderContent, from: MailAddress, to: MailAddress) throws -> MailMessage {
    MailMessage(
      from: from, to: to, subject: content.subject, text: try templates.render("reminder.text", content.value),
      html: try templates.render("reminder.html", content.value), identifier: content.identifier, date: content.now,
      language: content.texts.code)
  }

  /// A message that only says that messages arrive.
  package func test(language: String, now: Date) -> ReminderContent {
    ReminderContent(
      [], texts: texts[language], zone: .gmt, address: address, identifier: UUID().uuidString.lowercased(), now: now)
  }
}
