import Foundation
import HTTPServer
import JSON
import SQLite
import Store

/// A list that its page offers whole, as CSV and JSON, with the page's filters: of each item what the API says.
struct ListExportRoutes<Item: JSONWritable & Sendable>: Sendable {
  /// Of the page, as `/incidents`.
  let path: String
  /// As the activity log names it.
  let action: String
  /// The API's members that are the columns of the CSV; JSON has all.
  let columns: [String]
  /// Who may open the page.
  var role = User.Role.viewer
  /// Reads the page's filters.
  let read: @Sendable (PageContext) async throws -> PagedExport<Item>.Read

  func add(to routes: inout ConsoleRouter) {
    routes.page(.get, path + ".csv", role: role) { page in
      try await pages(page, "csv").csv(header: CSV.line(columns)) { Self.line($0, columns) }
    }
    routes.page(.get, path + ".json", role: role) { page in try await pages(page, "json").json { $1.write(to: &$0) } }
  }

  private func pages(_ page: PageContext, _ format: String) async throws -> PagedExport<Item> {
    let name = String(path.split(separator: "/").last ?? "")
    let pages = PagedExport(store: page.store, name: name, read: try await read(page))
    try await page.note(page.audit(action, name, ["format": .string(format)]))
    return pages
  }

  private static func line(_ item: Item, _ columns: [String]) -> String {
    var json = JSONWriter(capacity: 1024)
    item.write(to: &json)
    let object = try? JSONValue(parsing: Data(json.text.utf8))  // it was just written
    let cells = columns.map { column -> String in
      let value = object?[column]
      // A negative number is no formula: with an apostrophe it would be text.
      return value?.integer.map { String($0) } ?? CSV.field(cell(value))
    }
    return CSV.line(cells: cells)
  }

  /// A list of names as words; other lists and objects as JSON.
  private static func cell(_ value: JSONValue?) -> String {
    guard let value, value != .null else { return "" }
    let names = value.array?.compactMap(\.string)
    if let names, names.count == value.array?.count { return names.joined(separator: " ") }
    return value.string ?? value.text()
  }
}
