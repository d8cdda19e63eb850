import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// The page that imports devices from a file or from pasted lines.
enum DeviceImportPages {
  /// 64 MiB. Larger imports use the command or the API.
  private static let bodyLimit = 64 << 20
  /// Bytes to read at most before the format (CSV or NDJSON) must be recognizable.
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

  private static func formPage(
    _ page: PageContext, _ errors: FieldErrors, status: Status? = nil
  ) async throws -> Response {
    let texts = page.texts
    let apps = try await page.store.read { try App.all($0) }
    let chosen = page.form["format"].isEmpty ? "auto" : page.form["format"]
    let view = DeviceImportView(
      form: page.form, errors: errors,
      apps: ChoiceView.list(
        [("", texts("devices.app_in_lines"))] + apps.map { ($0.bundleID, $0.name) }, chosen: page.form["app"]),
      formats: ChoiceView.list(
        [("auto", texts("devices.format_auto")), ("csv", "CSV"), ("ndjson", "NDJSON")], chosen: chosen),
      sampleApp: apps.first?.bundleID ?? "com.example.app")
    return page.answer(view, status: status ?? errors.status)
  }

  private static func importDevices(_ page: PageContext, _ file: IncomingFile?) async throws -> Response {
    let field = file == nil ? "text" : "file"
    var errors = FieldErrors()
    do {
      guard let report = try await register(page, file) else {
        errors.add(field, page.texts("devices.choose_file"))
        return try await formPage(page, errors)
      }
      return try page.shown(at: "/devices/import") { page in reportPage(page, report, app: page.form["app"]) }
    } catch let problems as Problems {
      for problem in problems.all { errors.add(field, page.texts.text(problem)) }
      return try await formPage(page, errors)
    } catch let broken as BrokenImport {
      let disk = DiskWords(of: broken.cause)
      errors.add(field, disk.map { page.texts.text($0.problem) } ?? page.texts("errors.busy.happened"))
      errors.add(field, page.texts.text(broken.left))
      return try await formPage(page, errors, status: disk?.status ?? .serviceUnavailable)
    }
  }

  /// Registers the devices of the file, or of the pasted lines if there is no file, while they arrive.
  /// - Returns: nil if the form holds neither.
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
    do {
      while let piece = try await next() {
        isBlank = isBlank && piece.allSatisfy { $0 <= 0x20 }
        if intake == nil {
          start += piece
          if isBlank, start.count < startLimit { continue }
          intake = DeviceIntake(parser(page, start), for: page, errorLimit: RejectedFile.lineLimit)
          try await intake?.take(start)
          start = []
        } else {
          try await intake?.take(piece)
        }
      }
      if isBlank { return nil }
      try await intake?.finish()
    } catch { throw intake?.broken(by: error) ?? error }
    return intake?.report
  }

  private static func parser(_ page: PageContext, _ start: [UInt8]) -> DeviceLineParser {
    let app = page.form["app"]
    return DeviceLineParser(
      format: format(page.form["format"], start), defaults: app.isEmpty ? [:] : ["app": .string(app)])
  }

  private static func format(_ chosen: String, _ start: [UInt8]) -> DeviceImport.Format {
    if let format = DeviceImport.Format(rawValue: chosen) { return format }
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    return start.first { $0 > 0x20 && !mark.contains($0) } == UInt8(ascii: "{") ? .ndjson : .csv
  }

  private static func reportPage(_ page: PageContext, _ report: DeviceImportReport, app: String) -> Response {
    // Readable lines are refused by the batch, after unreadable ones.
    let errors = report.errors.sorted { $0.line < $1.line }
    let lines = errors.prefix(shownErrors).flatMap { line in
      line.problems.map { RejectedLineRow(line: line.line, field: $0.field, message: page.texts.text($0)) }
    }
    return page.answer(
      DeviceImportReportView(
        report: report, heading: heading(report, page.texts), lines: lines,
        cut: report.rejected > shownErrors ? shownErrors : nil, file: RejectedFile(errors, page.texts),
        devicesHref: app.isEmpty ? "/devices" : "/devices?app=\(ConsoleRouter.escaped(app))"))
  }

  private static func heading(_ report: DeviceImportReport, _ texts: Texts) -> String {
    let counts = [("added", report.added), ("updated", report.updated), ("rejected", report.rejected)]
    let parts = counts.filter { $0.1 > 0 }.map { texts.counted($0.1, texts("devices.did.\($0.0)")) }
    return texts("devices.imported_text", count: report.lines, ["parts": texts.list(parts)])
  }
}
