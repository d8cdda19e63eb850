import Foundation
import HTTPServer
import Mustache

/// Links through a list that is paged by cursor. The address carries the earlier cursors, so that *Previous* works
/// without JavaScript.
struct Pager {
  private static let longestTrail = 50
  /// The parameter of an address that names the ticked rows of its page.
  static let chosen = "chosen"
  /// Parameters that are no filters: they belong to one page of a list.
  static let own: Set<String> = ["cursor", "trail", chosen]

  let path: String
  let cursor: String?
  private let filters: [(name: String, value: String)]
  private let trail: [String]

  init(_ request: Request, path: String? = nil) {
    self.path = path ?? request.path
    let query = request.queryItems
    cursor = query["cursor"].flatMap { $0.isEmpty ? nil : $0 }
    trail = (query["trail"] ?? "").split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      .suffix(Self.longestTrail).filter { !$0.isEmpty }
    filters = query.pairs.filter { !Self.own.contains($0.name) && !$0.value.isEmpty }
      .map { ($0.name, $0.value) }
  }

  /// The number of rows before this page; nil if the URL does not contain it.
  ///
  /// - Parameter size: of full pages.
  func offset(_ size: Int) -> Int? {
    guard cursor != nil else { return 0 }
    return trail.isEmpty || trail.count >= Self.longestTrail ? nil : trail.count * size
  }

  /// As “1–50 of 120”; nil: the position is unknown, or the page is empty.
  func position(_ count: Int, size: Int, of all: Int, _ texts: Texts) -> String? {
    guard let offset = offset(size), count > 0, offset + count <= all else { return nil }
    return texts("pushes.position", ["from": (offset + 1).grouped, "to": (offset + count).grouped, "all": all.grouped])
  }

  /// Nil on the first page.
  var previous: String? {
    guard cursor != nil else { return nil }
    // "-" is the first page, which has no cursor.
    let before = trail.last ?? "-"
    return href(cursor: before == "-" ? nil : before, trail: Array(trail.dropLast()))
  }

  /// Nil on the last page.
  func next(_ next: String?) -> String? {
    next.map { href(cursor: $0, trail: trail + [cursor ?? "-"]) }
  }

  private func href(cursor: String?, trail: [String]) -> String {
    var items = filters.map { ($0.name, $0.value) }
    if let cursor { items.append(("cursor", cursor)) }
    if cursor != nil, !trail.isEmpty { items.append(("trail", trail.joined(separator: "."))) }
    let query = items.map { "\(ConsoleRouter.escaped($0.0))=\(ConsoleRouter.escaped($0.1))" }.joined(separator: "&")
    return query.isEmpty ? path : "\(path)?\(query)"
  }
}
