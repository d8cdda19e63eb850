import Arguments
import Foundation
import Store

/// `signalbox devices export`: reads page by page, so memory use does not depend on the number of devices.
enum DevicesExportCommand {
  private static let format = Option(
    "format", "format", "The format: ndjson or csv.", default: DeviceImport.Format.ndjson, showing: "ndjson"
  ) { text throws(BadValue) in
    guard let format = DeviceImport.Format(rawValue: text) else { throw BadValue("is not ndjson or csv") }
    return format
  }.among(["ndjson", "csv"])

  static let command = Command<Action>(
    "export", "Write devices to standard output, the first registered first.",
    discussion: "The output can be imported again. It contains full device tokens, so keep it private.",
    parameters: [format.parameter] + DevicesCommand.filterParameters + [CommonOptions.data.parameter]
  ) { values, io in
    var count = 0
    try withStore(values, io) { store in
      if let header = DeviceExport.header(values[format]) { io.write(header) }
      try DevicesCommand.forEachPage(store, values, order: .oldestFirst, limit: 0) { page, apps in
        io.write(page.map { DeviceExport.line($0, app: apps[$0.appID] ?? "", values[format]) }.joined())
        try io.checkOutput()
        count += page.count
        io.progress("\(count) devices")
      }
    }
    io.endProgress()
    return ExitCode.done
  }
}
