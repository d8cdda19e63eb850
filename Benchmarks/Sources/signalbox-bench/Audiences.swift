import Foundation
import Model
import SQLite
import Store

/// Walks an audience page by page to its end, as the engine does, and prints how many devices it has and what that
/// cost.
func audience(database path: String, name: String, app bundleID: String) throws {
  var rule = Audience.Rule()
  switch name {
  case "all": break
  case "tag": rule.tag = ["beta", "news"]
  case "tag_and": rule.tagAnd = ["beta", "news"]
  case "tag_not": (rule.tag, rule.tagNot) = (["news"], ["beta"])
  case "alias": rule.alias = (0..<1000).map { "user-\($0 * 7)" }
  default: throw BadAudience(name: name)
  }
  let pool = try DatabasePool(path: path, readers: 1)
  defer { pool.close() }
  let app = try pool.readSync { try App.find($0, bundleID: bundleID) }
  guard let app else { throw BadAudience(name: bundleID) }
  let query = AudienceQuery(
    app: app.id, environment: .production, platforms: [.ios], audience: name == "all" ? .all : .rule(rule))
  let cpu = cpuSeconds()
  let start = ContinuousClock.now
  var count = 0
  var last: Int64 = 0
  while true {
    let after = last
    let page = try pool.readSync { try query.page($0, after: after, limit: 1000) }
    count += page.count
    guard page.count == 1000, let end = page.last else { break }
    last = end.id
  }
  let wall = ContinuousClock.now - start
  print("cpu \(cpuSeconds() - cpu) wall \(wall / .seconds(1)) devices \(count)")
}

struct BadAudience: Error {
  let name: String
}
