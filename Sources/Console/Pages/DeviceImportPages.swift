import Foundation
import HTTPServer
import Mustache
import Push
import SQLite
import Store

/// Importing a list of devices from a file or from pasted lines.
enum DeviceImportPages {
  /// Larger files go through the command or the API: a browser shows nothing before the end.
  private static let bodyLimit = 64 << 20
  /// So many bytes may pass before it is plain whether they are CSV or NDJSON.
  private static let startLimit = 64 * 1024
  private static let shownErrors = 200

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/devices/import", role: .operator) { page in
      try await formPage(page, FieldErrors())
    }
    let options = Route.Options(bodyLimit: bodyLimit, bodyTimeLimit: .seconds(3600))
    routes.upload("/devices/import", role: .operator, options: options) { page, file in
      try await importDevices(page, file)
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

  private static func importDevices(_ page: PageContext, _ file: IncomingFile?) async throws -> Response {
    let field = file == nil ? "text" : "file"
    var errors = FieldErrors()
    do {
      guard let report = try await register(page, file) else {
        errors.add(field, page.texts("devices.choose_file"))
        return try await formPage(page, errors)
      }
      return try reportPage(page, report, app: page.form["app"])
    } catch let problems as Problems {
      for problem in problems.all { errors.add(field, page.texts.text(problem)) }
      return try await formPage(page, errors)
    }
  }

  /// Registers what the file holds, else what was pasted, while it comes.
  ///
  /// - Returns: nil if it holds nothing.
  /// - Throws: `Problems` if nothing can be read.
  private static func register(_ page: PageContext, _ file: IncomingFile?) async throws -> DeviceImportReport? {
    var file = file
    var pasted: [UInt8]? = file == nil ? Array(page.form.raw("text").utf8) : nil
    func next() async throws -> [UInt8]? {
      defer { pasted = nil }
      return try await file?.next() ?? pasted
    }
    var intake: DeviceIntake?
    var start: [UInt8] = []
    var isBlank = true
    while let piece = try await next() {
      isBlank = isBlank && piece.allSatisfy { $0 <= 0x20 }
      if intake == nil {
        start += piece
        if isBlank, start.count < startLimit { continue }
        intake = DeviceIntake(parser(page, start), for: page)
        try await intake?.take(start)
        start = []
      } else {
        try await intake?.take(piece)
      }
    }
    if isBlank { return nil }
    try await intake?.finish()
    return intake?.report
  }

  private static func parser(_ page: PageContext, _ start: [UInt8]) -> DeviceLineParser {
    let app = page.form["app"]
    return DeviceLineParser(
      format: format(page.form["format"], start), defaults: app.isEmpty ? [:] : ["app": .string(app)])
  }

  private static func format(_ chosen: String, _ start: [UInt8]) -> DeviceImport.Format {
    if let format = DeviceImport.Format(rawValue: chosen) { return format }
    return start.first { $0 > 0x20 } == UInt8(ascii: "{") ? .ndjson : .csv
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
