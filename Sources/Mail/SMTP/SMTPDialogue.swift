/// What was said over an SMTP connection, as far as an error or an answer needs it. Holds no credentials: of commands
/// only the verb is kept, of what follows AUTH nothing.
struct SMTPDialogue {
  enum Verb: String, CaseIterable {
    case greeting, EHLO, HELO, STARTTLS, AUTH, MAIL, RCPT, DATA, QUIT
  }

  /// What comes after QUIT is only goodbye.
  private var isOver = false

  private(set) var verb = Verb.greeting
  /// The last answer, all its lines.
  private(set) var answer: [String] = []

  /// Takes a line that was sent.
  mutating func sent(_ line: String) {
    let word = line.prefix { $0.isLetter }.uppercased()
    guard let verb = Verb(rawValue: word), verb != .greeting else { return }
    isOver = verb == .QUIT
    guard !isOver else { return }
    self.verb = verb
    answer = []
  }

  /// Takes a line that came.
  mutating func received(_ line: String) {
    guard !isOver else { return }
    let line = MailError.line(line)
    // "250-" goes on, "250 " ends (RFC 5321 section 4.2.1); what follows an end is a new answer.
    if let last = answer.last, last.dropFirst(3).first != "-" { answer = [] }
    if answer.count < 20 { answer.append(line) }
  }

  /// Three digits of the last answer, nil if none came.
  var code: Int? { answer.last.flatMap { Int($0.prefix(3)) } }

  /// The server's own words.
  var words: String { answer.joined(separator: " ") }

  /// What a refusal at this point means.
  var failure: MailError.Code? {
    guard let code, code >= 400 else { return nil }
    switch verb {
    case .AUTH: return code < 500 ? .busy : .authentication
    case .STARTTLS: return .tls
    // 530: must sign in or encrypt first (RFC 4954 section 6).
    case .MAIL: return code < 500 ? .busy : code == 530 || code == 538 ? .authentication : .sender
    case .RCPT: return code < 500 ? .busy : .recipient
    case .greeting, .EHLO, .HELO, .DATA, .QUIT: return code < 500 ? .busy : .refused
    }
  }
}
