/// The parts of an SMTP conversation needed for errors and answers. Without credentials: of commands only the verb is
/// kept, of AUTH nothing.
struct SMTPDialogue {
  enum Verb: String, CaseIterable {
    case greeting, EHLO, HELO, STARTTLS, AUTH, MAIL, RCPT, DATA, QUIT
  }

  /// Ignores everything after QUIT.
  private var isOver = false

  private(set) var verb = Verb.greeting
  /// All lines of the last answer.
  private(set) var answer: [String] = []

  /// Records a sent line.
  mutating func sent(_ line: String) {
    let word = line.prefix { $0.isLetter }.uppercased()
    guard let verb = Verb(rawValue: word), verb != .greeting else { return }
    isOver = verb == .QUIT
    guard !isOver else { return }
    self.verb = verb
    answer = []
  }

  /// Records a received line.
  mutating func received(_ line: String) {
    guard !isOver else { return }
    let line = MailError.line(line)
    // "250-" continues, "250 " ends (RFC 5321 section 4.2.1); the next line begins a new answer.
    if let last = answer.last, last.dropFirst(3).first != "-" { answer = [] }
    if answer.count < 20 { answer.append(line) }
  }

  /// Whether not even a greeting has come.
  var isUnanswered: Bool { verb == .greeting && answer.isEmpty }

  /// The last answer's code, nil if there is none.
  var code: Int? { answer.last.flatMap { Int($0.prefix(3)) } }

  /// The server's message.
  var words: String { answer.joined(separator: " ") }

  /// The meaning of a refusal at this point.
  var failure: MailError.Code? {
    guard let code, code >= 400 else { return nil }
    switch verb {
    case .AUTH: return code < 500 ? .busy : .authentication
    case .STARTTLS: return .tls
    // 530: authentication or encryption required (RFC 4954 section 6).
    case .MAIL: return code < 500 ? .busy : code == 530 || code == 538 ? .authentication : .sender
    case .RCPT: return code < 500 ? .busy : .recipient
    case .greeting, .EHLO, .HELO, .DATA, .QUIT: return code < 500 ? .busy : .refused
    }
  }
}
