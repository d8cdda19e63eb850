import Model

/// A new password, typed twice.
enum NewPassword {
  /// - Parameter name: the person's email address, as far as it is known.
  /// - Throws: errors for the fields `password` and `repeat`.
  static func read(_ page: PageContext, name: String) throws(FieldErrors) -> String {
    let (form, texts) = (page.form, page.texts)
    let password = form.raw("password")
    var errors = FieldErrors()
    if password.count < AccountName.shortestPassword {
      errors.add("password", texts("setup.too_short", ["count": String(password.count)]))
    } else if password.utf8.count > AccountName.longestPassword {
      errors.add("password", texts("setup.too_long"))
    } else if let problem = page.console.passwordRule.problem(
      password, context: [texts("layout.product"), name, page.address])
    {
      errors.add("password", texts.text(problem))
    }
    if form.raw("repeat") != password { errors.add("repeat", texts("setup.differ")) }
    guard errors.isEmpty else { throw errors }
    return password
  }
}
