public import Push

/// A line for the audit.
public struct NewAuditEntry: Sendable, Hashable {
  /// Who: a user's name, `token <name>`, `cli`, `signalbox`.
  public var actor: String
  /// What, as `push.create`.
  public var action: String
  /// To what, as `push 7f3a…`.
  public var subject: String
  /// Before and after, without secrets.
  public var detail: JSONValue?
  /// From where.
  public var address: String?

  /// Creates a line.
  public init(actor: String, action: String, subject: String, detail: JSONValue? = nil, address: String? = nil) {
    self.actor = actor
    self.action = action
    self.subject = subject
    self.detail = detail
    self.address = address
  }
}
