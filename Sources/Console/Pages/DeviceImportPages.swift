import Foundation
import HTTPServer
import Mustache
import Push
import SQLite
import Store

/// Importing a list of devices from a file or from pasted lines.
enum DeviceImportPages {
  /// A form is read whole; larger files go through the command or the API, which stream.
  private static let bodyLimit = 64 << 20
  private static let shownErrors = 200

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/devices/import", role: .operator) { page in
      try await formPage(page, FieldErrors())
    }
    routes.page(.post, "/devices/import", role: .operator, options: Route.Options(bodyLimit: bodyLimit)) { page in
      try await importDevices(page)
    }
  }

  private static func formPage(_ page: PageContext, _ errors: FieldErrors) async throws -> Response {
    let texts = page.texts
    let apps = try await page.store.read { try App.all($0) }
    let chosen = page.form["format"].isEmpty ? "auto" : page.form["format"]
    let sample = apps.first?.bundleID ?? "com.example.app"
    let token = "77366f0dc4a4f2f4a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718"
    return try page.page(
      "devices/import", .devices,
      [
        "problem": .string(errors.isEmpty ? "" : texts("devices.nothing_imported")),
        "apps": .options(
          [("", texts("devices.app_in_lines"))] + apps.map { ($0.bundleID, $0.name) }, selected: page.form["app"]),
        "formats": .choices(
          [("auto", texts("devices.format_auto")), ("csv", "CSV"), ("ndjson", "NDJSON")], checked: [chosen]),
        "form": page.form.value(["text"]), "errors": errors.value(["app", "format", "file", "text"]),
        "example": [
          "csv": .string(
            "app,environment,platform,token,alias,tags\n\(sample),development,ios,\(token),usr_1,vip beta"),
          "ndjson": .string(
            "{\"app\":\"\(sample)\",\"environment\":\"development\",\"platform\":\"ios\",\"token\":\"\(token)\","
              + "\"alias\":\"usr_1\",\"tags\":[\"vip\"]}"),
          "command": "signalbox devices import devices.csv",
        ],
      ], status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  private static func importDevices(_ page: PageContext) async throws -> Response {
    let file = page.form.file("file")
    let bytes = file?.bytes ?? Array(page.form.raw("text").utf8)
    let field = file == nil ? "text" : "file"
    var errors = FieldErrors()
    guard !bytes.allSatisfy({ $0 <= 0x20 }) else {
      errors.add(field, page.texts("devices.choose_file"))
      return try await formPage(page, errors)
    }
    let app = page.form["app"]
    let parser = DeviceLineParser(
      format: format(page.form["format"], file?.part.fileName, bytes),
      defaults: app.isEmpty ? [:] : ["app": .string(app)])
    let (report, isStopped) = try await run(parser, bytes, page)
    if isStopped, report.added + report.updated == 0, let first = report.errors.first {
      for problem in first.problems { errors.add(field, page.texts.text(problem)) }
      return try await formPage(page, errors)
    }
    return try reportPage(page, report, app: app)
  }

  private static func format(_ chosen: String, _ name: String?, _ bytes: [UInt8]) -> DeviceImport.Format {
    if let format = DeviceImport.Format(rawValue: chosen) { return format }
    return bytes.first { $0 > 0x20 } == UInt8(ascii: "{") ? .ndjson : .csv
  }

  /// Registers batch by batch, so that other writers get their turn.
  private static func run(
    _ start: DeviceLineParser, _ bytes: [UInt8], _ page: PageContext
  ) async throws -> (DeviceImportReport, Bool) {
    var parser = start
    var report = DeviceImportReport()
    var batch = DeviceImportBatch()
    let (actor, now, store) = (page.actor, page.now, page.store)
    func register() async throws {
      let lines = batch.take()
      guard !lines.isEmpty else { return }
      report.add(try await store.write { try lines.register($0, by: actor, now: now) })
    }
    for start in stride(from: 0, to: bytes.count, by: 1 << 16) {
      for result in parser.push(bytes[start..<min(bytes.count, start + 1 << 16)]) {
        switch result {
        case .success(let line): batch.add(line)
        case .failure(let line): report.add(line)
        }
      }
      if batch.isFull { try await register() }
    }
    for result in parser.finish() {
      switch result {
      case .success(let line): batch.add(line)
      case .failure(let line): report.add(line)
      }
    }
    try await register()
    let audit = page.audit(
      "device.import", "devices",
      ["added": .integer(Int64(report.added)), "updated": .integer(Int64(report.updated))])
    _ = try await store.write { try AuditEntry.add($0, audit, now: now) }
    return (report, parser.isStopped)
  }

  private static func reportPage(_ page: PageContext, _ report: DeviceImportReport, app: String) throws -> Response {
    let texts = page.texts
    let counts = [
      ("lines", report.lines, false), ("added", report.added, false), ("updated", report.updated, false),
      ("rejected_count", report.rejected, report.rejected > 0),
    ]
    let rejected = report.errors.prefix(shownErrors).flatMap { line in
      line.problems.map { problem -> Value in
        [
          "line": .string(line.line.grouped), "field": .string(problem.field),
          "message": .string(texts.text(problem)),
        ]
      }
    }
    let isCut = report.rejected > shownErrors
    return try page.page(
      "devices/imported", .devices,
      [
        "sentence": .string(
          texts(
            "devices.imported_text",
            [
              "lines": report.lines.grouped, "added": report.added.grouped, "updated": report.updated.grouped,
              "rejected": report.rejected.grouped,
            ])),
        "counts": .list(
          counts.map { name, number, failed in
            [
              "label": .string(texts("devices.\(name)")), "number": .string(number.grouped), "failed": .bool(failed),
            ]
          }),
        "devices_href": .string(app.isEmpty ? "/devices" : "/devices?app=\(ConsoleRouter.escaped(app))"),
        "any_rejected": .bool(report.rejected > 0), "rejected": .list(rejected),
        "rejected_text": .string(
          isCut
            ? texts("devices.rejected_more", ["shown": shownErrors.grouped, "count": report.rejected.grouped])
            : texts("devices.rejected_text", count: report.rejected)),
      ])
  }
}
