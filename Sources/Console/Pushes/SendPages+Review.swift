import HTTPServer
import JSON
import Model
import OpenSSL
import Store

/// The address of a review, and that it becomes one push.
extension SendPages {
  /// Leads to a page of its own, with the key that makes sending it twice one push: whoever goes back to a review sends
  /// the same one.
  static func shown(_ page: PageContext, _ show: @escaping ConsoleRouter.PageHandler) throws -> Response {
    var page = page
    if page.form.filled(idempotencyKey) == nil {
      let others = page.form.all.filter { $0.name != idempotencyKey }
      page.form = Form(others + [(idempotencyKey, Random.token(bytes: 18))])
    }
    return try page.shown(at: "/pushes/new", show)
  }

  static let idempotencyKey = "idempotency_key"

  /// The path of the push or schedule that this review became; nil: it was not sent yet.
  static func sent(_ page: PageContext) async throws -> String? {
    let once = once(try SendForm(form: page.form).draft(), page)
    do {
      return try await page.store.read { try once.known($0)?.location }
    } catch is Idempotency.Mismatch {
      return nil  // changed since: said when it is sent
    }
  }

  static func once(_ draft: PushDraft, _ page: PageContext) -> Idempotency {
    Idempotency(
      actor: page.actor, key: page.form.filled(idempotencyKey) ?? Random.token(bytes: 18), route: "POST /pushes",
      content: Array(draft.json.text().utf8), now: page.now)
  }
}
