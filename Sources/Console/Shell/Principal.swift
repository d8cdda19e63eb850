import Store

/// Who asks, and what they may do.
enum Principal: Sendable {
  /// Somebody in a browser.
  case user(User, Session)
  /// A program with a bearer token.
  case token(APIToken)

  /// What they may do.
  var role: User.Role {
    switch self {
    case .user(let user, _): user.role
    case .token(let token): token.scopes.compactMap(User.Role.init).max() ?? .viewer
    }
  }

  /// As it stands in the audit and beside a push.
  var name: String {
    switch self {
    case .user(let user, _): user.name
    case .token(let token): "token \(token.name)"
    }
  }
}
