import Arguments
import Foundation
import JSON
import Model
import SQLite
import Store
import Text

/// `signalbox devices`, except import.
enum DevicesCommand {
  private static let tag = Option<String?>("tag", "name", "Only devices with this tag.", CommonOptions.filled)
  private static let alias = Option<String?>(
    "alias", "name", "Only devices with this alias.", CommonOptions.filled)
  private static let token = Option<String?>("token", "hexadecimal", "Only devices whose token starts with this.")
  private static let registrationID = Option<String?>(
    "registration-id", "id", "Only the device with this registration ID.", CommonOptions.filled)
  private static let platform = Option<Platform?>(
    "platform", "platform", "Only this platform: ios or android.", Platform.parse
  ).among(Platform.names)
  private static let provider = Option<ProviderKind?>(
    "provider", "service", "Only devices that this push service reaches: apns, fcm or jpush.", ProviderKind.parse
  ).among(ProviderKind.names)
  private static let state = Option<DeviceState?>("state", "state", "Only this state: active, quarantined, or dead.") {
    text throws(BadValue) in
    guard let state = DeviceState(name: text) else { throw BadValue("is not active, quarantined, or dead") }
    return state
  }.among(DeviceState.allCases.map(\.name))
  private static let limit = Option(
    "limit", "number", "The maximum number of devices; 0 for all.", default: 100, showing: "100"
  ) {
    text throws(BadValue) in
    guard let number = Int(text), number >= 0 else { throw BadValue("is not a number of at least 0") }
    return number
  }
  static let ids = Argument<[String]>(rest: "id", "The devices' IDs, as shown by list.", atLeastOne: true)

  /// Options that filter a list or an export.
  static let filterParameters = [
    CommonOptions.app.parameter, CommonOptions.environment.parameter, platform.parameter, provider.parameter,
    state.parameter, tag.parameter, alias.parameter, registrationID.parameter, token.parameter,
  ]

  static let command = Command<Action>(
    "devices", "List, import, export, change, and delete devices.",
    subcommands: [
      Command(
        "list", "List devices, the most recently registered first.",
        parameters: filterParameters + [
          limit.parameter, CommonOptions.data.parameter, CommonOptions.json.parameter,
        ], action: list),
      DevicesImportCommand.command,
      DevicesExportCommand.command,
    ] + DevicesBatchCommand.commands + [
      Command(
        "remove", "Delete devices. Pushes sent to them stay in the history.",
        parameters: [ids.parameter, CommonOptions.data.parameter], action: remove)
    ])

  /// Reads ``filterParameters``.
  static func filter(_ values: Parsed, _ database: Database) throws -> DeviceFilter {
    var filter = DeviceFilter(app: try values[CommonOptions.app].map { try App.named($0, database).id })
    filter.environment = values[CommonOptions.environment]
    filter.platform = values[platform]
    filter.provider = values[provider]
    filter.state = values[state]
    filter.tag = values[tag]
    filter.alias = values[alias]
    filter.registrationID = values[registrationID]
    filter.tokenPrefix = try values[token].map { text in
      let digits = text.compactMap(\.hexDigitValue)
      guard digits.count == text.count, text.count.isMultiple(of: 2), !text.isEmpty else {
        throw CommandFailure.usage("--token needs an even number of hexadecimal digits.")
      }
      return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
    return filter
  }

  /// Visits all matching devices, a page at a time.
  static func forEachPage(
    _ store: Store, _ values: Parsed, order: Device.Order, limit: Int,
    _ body: ([Device], [Int64: String]) throws -> Void
  ) throws {
    var cursor: String?
    var left = limit == 0 ? Int.max : limit
    repeat {
      let page = try store.readSync { database in
        let apps = try App.bundleIDs(database)
        let filter = try filter(values, database)
        return (try Device.list(database, filter, order: order, cursor: cursor, limit: min(left, 1000)), apps)
      }
      try body(page.0.items, page.1)
      left -= page.0.items.count
      cursor = page.0.next
    } while cursor != nil && left > 0
  }

  private static let list: Action = { values, io in
    var devices: [(Device, String)] = []
    try withStore(values, io) { store in
      try forEachPage(store, values, order: .newestFirst, limit: values[limit]) { page, apps in
        devices += page.map { ($0, apps[$0.appID] ?? "") }
      }
    }
    io.hint(ifEmpty: devices, "no devices found; apps register them, or import a file: signalbox devices import <file>")
    let table = io.table("ID", "APP", "ENVIRONMENT", "PLATFORM", "STATE", "TOKEN", "ALIAS", "TAGS", "SEEN")
    io.print(devices, as: { DeviceAnswer($0.0, app: $0.1) }, values, in: table) { device, app in
      [
        "\(device.id)", app, io.word(device.environment), device.platform.rawValue,
        io.word(device.state.name, "state."), device.token.abbreviated, device.alias ?? "",
        device.tags.joined(separator: " "), device.seenAt.text,
      ]
    }
    return ExitCode.done
  }

  static func id(_ text: String) throws -> Int64 {
    guard let id = Int64(text), id > 0 else { throw CommandFailure.usage("“\(text)” is not a device ID.") }
    return id
  }

  private static let remove: Action = { values, io in
    let now = io.now()
    let wanted = try values[ids].map(id)
    var missing: [Int64] = []
    try writeStore(values, io) { database in
      for id in wanted {
        if let device = try Device.find(database, id: id), try Device.delete(database, id: id, now: now) {
          try audit(database, "device.delete", "device \(id)", ["before": device.audited, "after": .null], now: now)
        } else {
          missing.append(id)
        }
      }
    }
    for id in missing { io.complain("Device \(id) not found.") }
    let deleted = wanted.count - missing.count
    io.say(
      Message(
        count: wanted.count, one: "Deleted \(deleted) of 1 device.",
        other: "Deleted \(deleted) of \(wanted.count) devices."))
    return missing.isEmpty ? ExitCode.done : ExitCode.failed
  }
}

/// `signalbox devices export`: reads page by page, so memory use does not depend on the number of devices.
enum DevicesExportCommand {
  private static let format = Option(
    "format", "format", "The format: ndjson or csv.", default: DeviceImport.Format.ndjson, showing: "ndjson",
    parseWord(or: BadValue("is not ndjson or csv"))
  ).among(["ndjson", "csv"])

  static let command = Command<Action>(
    "export", "Write devices to standard output, the first registered first.",
    discussion: "The output can be imported again. It contains full device tokens, so keep it private.",
    parameters: [format.parameter] + DevicesCommand.filterParameters + [CommonOptions.data.parameter]
  ) { values, io in
    var count = 0
    let now = io.now()
    try withStore(values, io) { store in
      try store.writeSync { try audit($0, "device.export", "devices", now: now) }
      if let header = DeviceExport.header(values[format]) { io.write(header) }
      try DevicesCommand.forEachPage(store, values, order: .oldestFirst, limit: 0) { page, apps in
        io.write(page.map { DeviceExport.line($0, app: apps[$0.appID] ?? "", values[format]) }.joined())
        try io.checkOutput()
        count += page.count
        io.progress(Message(count: count, one: "1 device", other: "\(count) devices"))
      }
    }
    io.endProgress()
    return ExitCode.done
  }
}
