import Arguments
import Foundation
import JSON
import Model
import SQLite
import Store
import Text

/// `signalbox devices import FILE`: streams the file, so memory use does not depend on its size.
enum DevicesImportCommand {
  private static let file = Argument<String>("file", "The file; - for standard input.")
  private static let format = Option<DeviceImport.Format?>(
    "format", "format", "The format: ndjson or csv (default: by file name).",
    parseWord(or: BadValue("is not ndjson or csv"))
  ).among(["ndjson", "csv"])
  private static let app = Option<String?>("app", "bundle-id", "The app for lines that name none.")
  private static let environment = Option<Environment?>(
    "environment", "environment", "The environment for lines that name none.", Environment.parse
  ).among(Environment.names)
  private static let platform = Option<Platform?>(
    "platform", "platform", "The platform for lines that name none.", Platform.parse
  ).among(Platform.names)
  private static let dryRun = Flag("dry-run", "Check every line but save nothing.")

  static let command = Command<Action>(
    "import", "Import devices from a file.",
    discussion: """
      NDJSON: one device per line, like the body of PUT /api/v1/devices. CSV: a header line with the same names (app, \
      environment, platform, token, alias, tags, registration_id, name, provider, app_version, time_zone, language), tags \
      separated by spaces or commas; NULL and \\N are empty. Columns of an export that cannot be set (id, state, \
      state_reason, registered_at, seen_at) are ignored. Invalid lines are reported on standard error and skipped; the \
      others are imported. The exit code is 0 only if all lines are valid.
      """,
    parameters: [
      file.parameter, format.parameter, app.parameter, environment.parameter, platform.parameter, dryRun.parameter,
      CommonOptions.data.parameter, CommonOptions.json.parameter,
    ]
  ) { values, io in
    let path = values[file]
    guard let format = values[format] ?? guess(path) else {
      throw CommandFailure.usage("Use --format ndjson or --format csv, because the file name does not show the format.")
    }
    var defaults: [String: JSONValue] = [:]
    if let app = values[app] { defaults["app"] = .string(app) }
    if let environment = values[environment] { defaults["environment"] = .string(environment.rawValue) }
    if let platform = values[platform] { defaults["platform"] = .string(platform.rawValue) }
    let report = try withStore(values, io) { store in
      var run = DeviceImportRun(store: store, isDryRun: values[dryRun], now: io.now()) { rejected in
        io.endProgress()
        io.writeError("\(singleLine(io.text("\(rejected)")))\n")
      }
      let source = try Source(path: path, io: io)
      defer { source.close() }
      func record(_ report: DeviceImportReport) throws {
        guard !values[dryRun], report.lines > 0 else { return }
        try store.writeSync { database in
          try audit(
            database, "device.import", "devices",
            ["added": .number(report.added), "updated": .number(report.updated)], now: io.now())
        }
      }
      do {
        try run.take(DeviceLineParser(format: format, defaults: defaults), from: source) { report in
          io.progress("\(report.added + report.updated) registered, \(report.rejected) rejected\(source.part)")
        }
      } catch {
        io.endProgress()
        guard !values[dryRun], let left = run.report.brokenOff else { throw error }
        try? record(run.report)  // a full disk may refuse this as well, and its error follows
        let cause = (error as? SQLiteError).map { $0.mayPass ? $0.cause : "\($0)" } ?? "\(error)"
        throw CommandFailure("\(EnglishSentence(cause.withoutFullStop)). \(left)")
      }
      io.endProgress()
      try record(run.report)
      return run.report
    }
    if values[CommonOptions.json] {
      io.print(report.prettyJSON)
    } else {
      let kept: Message = values[dryRun] ? " (dry run: nothing was saved)" : ""
      let counts: Message = "\(report.added) added, \(report.updated) updated, \(report.rejected) rejected\(kept)."
      io.say(Message(count: report.lines, one: "1 device: \(counts)", other: "\(report.lines) devices: \(counts)"))
    }
    // An export of nobody is such a file, but it may also be the wrong one.
    if report.lines == 0, report.rejected == 0 {
      let name: Message = path == "-" ? "standard input" : "\(singleLine(path))"
      io.note("\(name) has no devices.")
    }
    return report.rejected == 0 ? ExitCode.done : ExitCode.failed
  }

  private static func guess(_ path: String) -> DeviceImport.Format? {
    switch URL(fileURLWithPath: path).pathExtension.lowercased() {
    case "csv": .csv
    case "ndjson", "jsonl": .ndjson
    default: nil
    }
  }

  /// A file or standard input.
  struct Source {
    private let handle: FileHandle?
    private let io: CommandIO
    private let size: UInt64

    init(path: String, io: CommandIO) throws {
      self.io = io
      handle = path == "-" ? nil : try NamedFile.open(path)
      // A pipe has no size; then the progress line shows no part.
      size = (try? handle?.seekToEnd()) ?? 0
      if size > 0 { try handle?.seek(toOffset: 0) }
    }

    /// Empty at the end.
    func next() throws -> Data {
      let count = 256 * 1024
      return try handle.map { try $0.read(upToCount: count) ?? Data() } ?? io.read(count)
    }

    /// As `, 17 %`; empty if the size is unknown.
    var part: String {
      guard let handle, size > 0, let offset = try? handle.offset() else { return "" }  // only for the progress line
      return ", \(offset * 100 / size) %"
    }

    func close() { try? handle?.close() }  // opened for reading: closing cannot lose data
  }
}
