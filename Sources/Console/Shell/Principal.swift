import Store

/// The person or program behind a request, and its role.
enum Principal: Sendable {
  case user(User, Session)
  /// A program with a bearer token.
  case token(APIToken)

  var role: User.Role {
    switch self {
    case .user(let user, _): user.role
    case .token(let token): token.scopes.compactMap(User.Role.init).max() ?? .viewer
    }
  }

  /// The name in the audit log and beside pushes.
  var name: String {
    switch self {
    case .user(let user, _): user.name
    case .token(let token): "token \(token.name)"
    }
  }
}
