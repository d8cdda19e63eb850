package import Foundation
package import Mail
internal import Mustache
package import Reactor
package import Store
internal import Synchronization

/// Renders messages from templates, and sends them through mail servers and webhooks.
package final class Courier: Sendable {
  /// Every language of mails.
  package let texts: MailTexts
  let templates: TemplateLibrary
  private let links: Mutex<String?>
  private let pool: BlockingPool
  private let proxies: ProxyRules

  /// Reads templates and texts.
  ///
  /// - Parameters:
  ///   - folder: `Templates/mail`.
  ///   - pool: its threads wait for connections, and limit how many are open at a time.
  ///   - proxies: what is reached, and which webhooks through a proxy.
  /// - Throws: `TemplateError`; the errors of reading the files.
  package init(
    folder: String, address: String?, pool: BlockingPool, proxies: ProxyRules = .none, isStrict: Bool = false
  ) throws {
    templates = try TemplateLibrary(directory: folder, missingKey: isStrict ? .error : .empty)
    texts = try MailTexts(folder: folder + "/locales")
    links = Mutex(address)
    self.pool = pool
    self.proxies = proxies
  }

  /// The beginning of links, such as `https://push.example.com`; nil: mails have no links.
  package var address: String? { links.withLock { $0 } }

  /// Sets the beginning of links unless it is set: a server knows its address only once it listens.
  package func link(to address: String) { links.withLock { $0 = $0 ?? address } }

  /// - Parameter mail: the mail server; nil: none is set up, and email fails.
  /// - Returns: the other side's confirmation.
  /// - Throws: `MailError`.
  package func send(
    _ content: ReminderContent, over channel: Receiver.Channel, to secrets: Receiver.Secrets, mail: MailSettings?
  ) async throws -> String {
    guard channel == .email else {
      guard let service = ChatService(rawValue: channel.rawValue) else {
        throw MailError(.settings, "unknown channel")
      }
      let request = service.request(content.chat, url: secrets.address, secret: secrets.secret, now: content.now)
      let proxies = proxies
      return try await pool.run { try service.read(WebTransport(proxies: proxies).post(request)) }
    }
    guard let mail else { throw MailError(.settings, "no mail server is set up") }
    guard let to = MailAddress(secrets.address) else {
      throw MailError(.settings, "“\(secrets.address)” is not an email address")
    }
    let message = try message(content, from: mail.from, to: to)
    let rules = proxies
    return try await pool.run { try SMTPTransport(mail.server, rules: rules).send(message) }
  }

  /// - Throws: `TemplateError`.
  package func message(_ content: ReminderContent, from: MailAddress, to: MailAddress) throws -> MailMessage {
    MailMessage(
      from: from, to: to, subject: content.subject, text: try templates.render("reminder.text", content.value),
      html: try templates.render("reminder.html", content.value), identifier: content.identifier, date: content.now,
      language: content.texts.code)
  }

  /// A test message.
  package func test(language: String, now: Date) -> ReminderContent {
    ReminderContent(
      [], texts: texts[language], zone: .gmt, address: address, identifier: UUID().uuidString.lowercased(), now: now)
  }
}

/// The pause before a failed message is retried.
package enum RetryPause {
  /// Seconds until the next attempt: a minute, doubling each time up to six hours; longer if the other side asks for
  /// it, up to a day.
  ///
  /// - Parameters:
  ///   - attempt: 1 after the first.
  ///   - asked: the other side's wish in seconds.
  package static func seconds(afterAttempt attempt: Int, asked: Int? = nil) -> TimeInterval {
    let doubled = 60 * pow(2, Double(min(max(attempt, 1), 20) - 1))
    return min(max(min(doubled, 6 * 3600), Double(asked ?? 0)), 86_400)
  }

  /// After this time sending is given up: the next step follows.
  package static let patience: TimeInterval = 14 * 86_400
  /// After this many attempts people are told.
  package static let alarming = 3
}
