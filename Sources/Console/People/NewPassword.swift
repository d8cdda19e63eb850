import Model

/// A new password, typed twice.
enum NewPassword {
  /// - Throws: errors for the fields `password` and `repeat`.
  static func read(_ form: Form, _ texts: Texts) throws(FieldErrors) -> String {
    let password = form.raw("password")
    var errors = FieldErrors()
    if password.count < AccountName.shortestPassword {
      errors.add("password", texts("setup.too_short", ["count": String(password.count)]))
    } else if password.utf8.count > AccountName.longestPassword {
      errors.add("password", texts("setup.too_long"))
    }
    if form.raw("repeat") != password { errors.add("repeat", texts("setup.differ")) }
    guard errors.isEmpty else { throw errors }
    return password
  }
}
