import Mustache

struct SearchView: PageView {
  static let template = "search/index"
  static let section: Section? = nil

  let search: String
  let groups: [SearchGroup]

  static let fields: [Field<Self>] = [
    .text("q") { $0.search },
    .flag("asked") { !$0.search.isEmpty },
    .list("groups") { $0.groups },
    .flag("has_groups") { !$0.groups.isEmpty },
  ]
}

/// Hits of one kind.
struct SearchGroup: View {
  let name: String
  /// What was named exactly comes first.
  let hits: [SearchHit]

  init(name: String, hits: [SearchHit]) {
    self.name = name
    self.hits = hits.filter(\.isExact) + hits.filter { !$0.isExact }
  }

  var isExact: Bool { hits.first?.isExact == true }

  static let fields: [Field<Self>] = [.text("name") { $0.name }, .list("hits") { $0.hits }]
}

struct SearchHit: View {
  let title: String
  let detail: String
  let href: String
  /// Whether the text can mean nothing else.
  let isExact: Bool

  static let fields: [Field<Self>] = [
    .text("title") { $0.title },
    .optional("detail") { $0.detail.isEmpty ? nil : $0.detail },
    .text("href") { $0.href },
    .flag("exact") { $0.isExact },
  ]
}
