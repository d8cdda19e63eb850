import Foundation
import HTTPServer
import JSON
import Mustache
import SQLite
import Store
import Text

/// A list exported whole, one page at a time, with the filters of its page.
struct PagedExport<Item: Sendable>: Sendable {
  /// A page of the list, from a cursor.
  typealias Read = @Sendable (Database, String?, Int) throws -> Page<Item>

  private let store: Store
  private let name: String
  private let read: Read

  /// - Parameter name: of the file, without its ending.
  init(store: Store, name: String, read: @escaping Read) {
    (self.store, self.name, self.read) = (store, name, read)
  }

  func csv(columns: [String], cells: @escaping @Sendable (Item) -> [String]) -> Response {
    csv(header: CSV.line(columns)) { CSV.line(cells($0)) }
  }

  /// Begins with a byte order mark, without which Excel takes UTF-8 for the machine's old encoding. An import reads it.
  ///
  /// - Parameters:
  ///   - header: the first line, with its end.
  ///   - line: the line of an item, with its end.
  func csv(header: String, line: @escaping @Sendable (Item) -> String) -> Response {
    answer("text/csv; charset=utf-8", "csv", before: CSV.byteOrderMark + header, after: "") { items, _ in
      items.map(line).joined()
    }
  }

  /// An array with an item on each line.
  func json(_ write: @escaping @Sendable (inout JSONWriter, Item) -> Void) -> Response {
    answer("application/json", "json", before: "[", after: "\n]\n") { items, isFirst in
      var json = JSONWriter(capacity: items.count * 384)
      for (index, item) in items.enumerated() {
        if index > 0 { json.separate() }
        json.endLine()
        write(&json, item)
      }
      return (isFirst || items.isEmpty ? "" : ",") + json.text
    }
  }

  private static var pageSize: Int { 1000 }

  private func answer(
    _ type: String, _ ending: String, before: String, after: String,
    _ write: @escaping @Sendable ([Item], Bool) -> String
  ) -> Response {
    // Rows are read and written on the reader's thread, page by page, so an export blocks neither the server's event
    // loop nor other readers.
    let (store, read) = (store, read)
    return Response(
      headers: [
        "Content-Type": type, "Content-Disposition": "attachment; filename=\"\(name).\(ending)\"",
        "Cache-Control": "no-store",
      ],
      body: .stream(length: nil) { writer in
        try await writer.write(Array(before.utf8))
        var cursor: String?
        var isFirst = true
        repeat {
          let (from, begins) = (cursor, isFirst)
          let (bytes, next) = try await store.read(lane: .exports) { database in
            let page = try read(database, from, Self.pageSize)
            return (Array(write(page.items, begins).utf8), page.next)
          }
          if !bytes.isEmpty { try await writer.write(bytes) }
          // A page may be empty although others follow: a search ends a page when its time is over.
          isFirst = isFirst && bytes.isEmpty
          cursor = next
        } while cursor != nil
        if !after.isEmpty { try await writer.write(Array(after.utf8)) }
      })
  }
}

/// Links to the exports of a list, with the page's filters, for `components/exports`.
struct ExportLinks: View {
  private let path: String
  private let query: String

  /// - Parameter path: of the exports, without the ending.
  init(_ page: PageContext, _ path: String) {
    self.path = path
    // The pager's position is no filter.
    let pairs = page.query.pairs.filter { !Pager.own.contains($0.name) && !$0.value.isEmpty }
    let joined = pairs.map { "\(ConsoleRouter.escaped($0.name))=\(ConsoleRouter.escaped($0.value))" }
    query = joined.isEmpty ? "" : "?" + joined.joined(separator: "&")
  }

  static let fields: [Field<Self>] = [
    .text("csv") { "\($0.path).csv\($0.query)" }, .text("json") { "\($0.path).json\($0.query)" },
  ]
}

/// Writes RFC 4180 lines; values that a spreadsheet would run as a formula are made harmless.
enum CSV {
  static let byteOrderMark = "\u{FEFF}"

  static func line(_ fields: [String]) -> String { line(cells: fields.map(field)) }

  /// Of cells that are harmless and quoted already.
  static func line(cells: [String]) -> String { cells.joined(separator: ",") + "\r\n" }

  // Compares scalars, not characters: a combining mark after a quote, or the single character CR LF, would hide the
  // special one.
  private static let special: Set<Unicode.Scalar> = [",", "\"", "\n", "\r"]

  static func field(_ text: String) -> String {
    let scalars = SpreadsheetText.guarded(text).unicodeScalars
    guard scalars.contains(where: special.contains) else { return String(scalars) }
    var quoted = String.UnicodeScalarView("\"".unicodeScalars)
    for scalar in scalars {
      if scalar == "\"" { quoted.append(scalar) }
      quoted.append(scalar)
    }
    quoted.append("\"")
    return String(quoted)
  }
}
