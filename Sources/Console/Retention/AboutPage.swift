package import Foundation
import HTTPServer
package import JSON
import Mustache
import Reactor
import Store

/// `/settings/about`: version and database, its backup and check, and the bundle for who helps.
enum AboutPage {
  /// As “12.5 MB”, in every language.
  private static func size(_ bytes: Int64) -> String {
    bytes < 1_000_000 ? "\(bytes / 1000) kB" : String(format: "%.1f MB", Double(bytes) / 1_000_000)
  }

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/settings/about", role: .admin, show)
    // A copy takes as long as the disk needs; who leaves does not need it any more.
    let patient = Route.Options(endsWithClient: true, mayWait: true)
    routes.page(.post, "/settings/about/backup", role: .admin, proof: true, options: patient) { page in
      let download = BackupDownload(page.console, now: page.now)
      let copy = try await download.make()
      let detail: JSONValue = ["bytes": .integer(Int64(copy.size)), "to": "download"]
      try await page.note(page.audit("database.backup", "file \(download.name)", detail))
      return download.answer(copy)
    }
    routes.page(.post, "/settings/about/check", role: .admin, options: Route.Options(mayWait: true)) { page in
      let (console, entry) = (page.console, page.audit("database.check", IntegrityCheck.subject))
      let ended = console.integrity.begin(console, by: entry, now: page.now)
      // A small database is checked before the page comes back.
      await withTaskGroup(of: Void.self) { group in
        group.addTask { for await _ in ended {} }
        group.addTask { try? await console.configuration.answerPause() }  // cancelled: the check is over
        await group.next()
        group.cancelAll()
      }
      return page.redirect(to: "/settings/about#check")
    }
    routes.page(.post, "/settings/about/bundle", role: .admin, proof: true) { page in
      let (console, now) = (page.console, page.now)
      let files = try await page.store.read { try SupportBundle.files($0) }
      let diagnose = console.configuration.diagnose
      let found = try await console.pools.files.run { diagnose() }
      let bundle = try console.supportBundle(files, doctor: found, at: now)
      try await page.note(page.audit("database.bundle", "file \(SupportArchive.name(now)).tar.gz"))
      return Response(
        headers: [
          "Content-Type": "application/gzip",
          "Content-Disposition": "attachment; filename=\"\(SupportArchive.name(now)).tar.gz\"",
          "Cache-Control": "no-store",
        ], body: .bytes(bundle))
    }
  }
}

extension AboutPage {
  /// The number of steps that made the tables, with the day of the newest.
  private static func schema(_ migrations: JSONValue?, _ texts: Texts) -> String? {
    guard let steps = migrations?.array, let last = steps.last?["id"]?.string else { return nil }
    return texts.noted("\(steps.count)", texts.localized(String(last.prefix(10))))
  }

  private static func show(_ page: PageContext) async throws -> Response {
    let (files, report) = try await page.store.read { (try SupportBundle.files($0), try IntegrityReport.last($0)) }
    func member(_ file: String, _ name: String) -> JSONValue? { files.first { $0.name == file }?.json[name] }
    let texts = page.texts
    let bytes = member("schema.json", "bytes")?.integer.map(size)
    return page.answer(
      AboutView(
        version: page.console.configuration.version,
        facts: [
          FactView(texts("about.database"), bytes),
          FactView(texts("about.schema"), schema(member("schema.json", "migrations"), texts)),
          FactView(texts("about.sqlite"), member("schema.json", "sqlite")?.string),
        ].compactMap { $0 }, files: SupportArchive.ownFiles + files.map(\.name),
        check: IntegrityView(
          report: report, since: page.console.integrity.since, texts: texts, now: page.now)))
  }
}

extension Console {
  fileprivate func supportBundle(
    _ files: [(name: String, json: JSONValue)], doctor: JSONValue, at: Date
  ) throws -> [UInt8] {
    guard let bundle = SupportArchive.make(files, doctor: doctor, version: configuration.version, at: at) else {
      throw HTTPError(.serviceUnavailable)
    }
    return bundle
  }
}

/// The support bundle as a file.
package enum SupportArchive {
  /// The name of its folder, and of the file before `.tar.gz`.
  package static func name(_ at: Date) -> String {
    "signalbox-support-" + at.dayText
  }

  /// The files that do not come from the database.
  fileprivate static let ownFiles = ["about.json", "doctor.json"]

  /// - Parameter doctor: the findings of `signalbox doctor`.
  /// - Returns: nil if there is no memory.
  package static func make(
    _ files: [(name: String, json: JSONValue)], doctor: JSONValue, version: String, at: Date
  ) -> [UInt8]? {
    let about: JSONValue = ["version": .string(version), "created_at": JSONValue(written: at)]
    let all = Array(zip(ownFiles, [about, doctor])) + files.map { ($0.name, $0.json) }
    return TarGzip.archive(all.map { (name: "\(name(at))/\($0.0)", bytes: Array($0.1.prettyJSON.utf8)) }, at: at)
  }
}

struct AboutView: PageView {
  static let template = "settings/about"
  static let section: Section? = .settings

  let version: String
  let facts: [FactView]
  /// What the bundle contains.
  let files: [String]
  let check: IntegrityView

  static let fields: [Field<Self>] = [
    .text("number") { $0.version },
    .list("facts") { $0.facts },
    .list("files") { $0.files },
    .view("check") { $0.check },
  ]
}
