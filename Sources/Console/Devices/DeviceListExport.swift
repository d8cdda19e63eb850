import HTTPServer
import JSON
import Model
import SQLite
import Store

/// Exports devices with the filters of `/devices`. The CSV can be imported again.
struct DeviceListExport: Sendable {
  private let pages: PagedExport<(device: Device, app: String)>

  init(_ store: Store, _ filter: DeviceFilter, search: String?) {
    pages = PagedExport(store: store, name: "devices") { database, cursor, limit in
      let apps = try App.bundleIDs(database)
      let page =
        try search.map { try Device.search(database, $0, filter, cursor: cursor, limit: limit) }
        ?? Device.list(database, filter, cursor: cursor, limit: limit)
      return page.map { ($0, apps[$0.appID] ?? "") }
    }
  }

  func csv() -> Response {
    pages.csv(header: DeviceExport.header(.csv) ?? "") { DeviceExport.line($0.device, app: $0.app, .csv) }
  }

  func json() -> Response { pages.json { json, item in DeviceAnswer(item.device, app: item.app).write(to: &json) } }
}
