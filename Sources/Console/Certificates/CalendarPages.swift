import Certificates
import Foundation
import HTTPServer
import JSON
import Mustache
import OpenSSL
import Reactor
import Model
import Reminders
import SQLite
import Store

/// `/certificates.ics`, and the secret address at which each person's calendar app reads it.
enum CalendarPages {
  static let path = "/certificates.ics"

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.post, "/certificates/calendar", proof: true, make)
    routes.page(.post, "/certificates/calendar/remove", remove)
    let console = routes.console
    routes.plain(.get, path) { request in try await feed(request, console) }
  }

  /// The calendar section of `/certificates`; nil without a signed-in person.
  ///
  /// - Parameter key: a newly made one; it is shown once.
  static func view(_ page: PageContext, key: String?) async throws -> CalendarView? {
    guard let user = page.user?.id else { return nil }
    return CalendarView(
      key: key, address: page.address + path, feed: try await page.store.read { try CalendarFeed.find($0, user: user) },
      texts: page.texts, now: page.now)
  }

  private static func make(_ page: PageContext) async throws -> Response {
    let user = try page.signedIn().user
    let key = Secret.text()
    try await page.store.write { database in
      try CalendarFeed.make(database, user: user.id, hash: Secret.hash(key), now: page.now)
      try page.record(database, "calendar.create", "user \(user.name)")
    }
    return try page.shown(at: "/certificates", for: ShownPage.secretLifetime) { page in
      try await CertificatePages.index(page, calendar: key)
    }
  }

  private static func remove(_ page: PageContext) async throws -> Response {
    let user = try page.signedIn().user
    try await page.store.write { database in
      guard try CalendarFeed.remove(database, user: user.id) else { return }
      try page.record(database, "calendar.delete", "user \(user.name)")
    }
    return page.redirect(to: "/certificates", flash: "calendar_removed")
  }

  // MARK: The feed

  private static let needsKey = HTTPError(
    .unauthorized, "Send the key of your calendar link as the password. Create the link on the Certificates page.",
    headers: ["WWW-Authenticate": "Basic realm=\"Signalbox calendar\", charset=\"UTF-8\""])

  private static func feed(_ request: Request, _ console: Console) async throws -> Response {
    let now = console.clock()
    // As a password the key stands in no log of a proxy. Programs that cannot ask for one have it in the address.
    guard let key = request.queryItems["key"] ?? request.basicCredentials?.password else { throw needsKey }
    // The key is looked up by its hash, so the lookup time reveals nothing about the key.
    let hash = Secret.hash(key)
    guard let feed = try await console.store.read({ try CalendarFeed.find($0, hash: hash) }) else {
      let refusal = request.queryItems["key"] == nil ? needsKey : HTTPError(.notFound)
      let entry = NewAuditEntry(
        actor: "anonymous", action: "calendar.refused", subject: "calendar", address: request.remoteAddress?.host)
      await console.noteRefusal(ofStranger: entry, request, refusal.status, "wrong key", now: now)
      throw refusal
    }
    let (report, user, zone) = try await console.store.read { database in
      (
        try CertificateTracker.report(database, now: now), try User.find(database, id: feed.userID),
        try ReminderSettings.load(database).zone
      )
    }
    let texts = console.locales[user?.language]
    if feed.readAt.map({ now.timeIntervalSince($0) > 3600 }) ?? true {
      await console.store.noteUse { try CalendarFeed.touch($0, user: feed.userID, now: now) }
    }
    let calendar = ExpiryCalendar(
      name: texts("expiry.calendar_name"), address: console.configuration.address, zone: zone,
      kindName: { texts("certificates.kinds.\($0.rawValue)") }, environmentName: { $0.word(texts) },
      worded: { texts.text($0) })
    let bytes = Array(calendar.text(report.findings.map(\.item), now: now).utf8)
    // Weak: the same tag stands for the compressed and the plain calendar.
    let tag = "W/\"\(Base64URL.encode(Digest.sha256(bytes).prefix(18)))\""
    // No shared cache may store the response: only holders of the address may read it.
    let headers: Headers = ["ETag": tag, "Cache-Control": "no-cache, private"]
    if request.header("If-None-Match") == tag { return Response(.notModified, headers: headers) }
    var response = Response(.ok, headers: headers, body: .bytes(bytes))
    response.headers.append("Content-Type", "text/calendar; charset=utf-8")
    response.headers.append("Content-Disposition", "inline; filename=\"certificates.ics\"")
    return response
  }
}

/// The link at which calendar apps read all expiry dates, for `certificates/_calendar`.
struct CalendarView: View {
  /// A newly made one; it is shown once.
  let key: String?
  /// Of the feed, without a key.
  let address: String
  let feed: CalendarFeed?
  /// When a calendar app last read the feed.
  let read: String

  init(key: String?, address: String, feed: CalendarFeed?, texts: Texts, now: Date) {
    (self.key, self.address, self.feed) = (key, address, feed)
    read = texts.ago(feed?.readAt, now: now)
  }

  static let fields: [Field<Self>] = [
    .optional("key") { $0.key },
    .text("address") { $0.address },
    // Calendars ask for a name, too; any will do.
    .text("user") { _ in "calendar" },
    .text("link") { "\($0.address)?key=\($0.key ?? "")" },
    .flag("has_link") { $0.feed != nil },
    .written("date") { view, output in if let date = view.feed?.createdAt { output.write(day: date) } },
    .text("read") { $0.read },
  ]
}
