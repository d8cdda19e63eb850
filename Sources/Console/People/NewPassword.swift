import Model
import Reactor

/// A new password, typed twice.
enum NewPassword {
  /// - Parameter name: the person's email address, as far as it is known.
  /// - Throws: `FieldErrors` for the fields `password` and `repeat`; an error if the list of breached passwords cannot
  ///   be read.
  static func read(_ page: PageContext, name: String) async throws -> String {
    let (form, texts) = (page.form, page.texts)
    let password = form.raw("password")
    var errors = FieldErrors()
    if password.count < AccountName.shortestPassword {
      errors.add("password", texts("setup.too_short", count: password.count))
    } else if password.utf8.count > AccountName.longestPassword {
      errors.add("password", texts("setup.too_long"))
    } else if let problem = page.console.passwordRule.problem(
      password, context: [texts("layout.product"), name, page.address])
    {
      errors.add("password", texts.text(problem))
    } else if let breached = page.console.configuration.breachedPasswords,
      try await page.console.pools.files.run({ try breached.contains(password) })
    {
      errors.add("password", texts.text(Problem("password", PasswordMessage.breached)))
    }
    if form.raw("repeat") != password { errors.add("repeat", texts("setup.differ")) }
    guard errors.isEmpty else { throw errors }
    return password
  }
}
