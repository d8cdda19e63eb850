import HTTPServer
import JSON
import Model
import SQLite
import Store

/// Exports a list of devices. The CSV can be imported again.
struct DeviceListExport: Sendable {
  private let pages: PagedExport<(device: Device, app: String)>

  init(_ store: Store, _ list: @escaping PagedExport<Device>.Read) {
    pages = PagedExport(store: store, name: "devices") { database, cursor, limit in
      let apps = try App.bundleIDs(database)
      return try list(database, cursor, limit).map { ($0, apps[$0.appID] ?? "") }
    }
  }

  /// With the filters of `/devices`.
  init(_ store: Store, _ filter: DeviceFilter, search: String?) {
    self.init(store) { database, cursor, limit in
      try search.map { try Device.search(database, $0, filter, cursor: cursor, limit: limit) }
        ?? Device.list(database, filter, cursor: cursor, limit: limit)
    }
  }

  func csv() -> Response {
    pages.csv(header: DeviceExport.header(.csv) ?? "") { DeviceExport.line($0.device, app: $0.app, .csv) }
  }

  func json() -> Response { pages.json { json, item in DeviceAnswer(item.device, app: item.app).write(to: &json) } }
}
