import Testing

@Suite("What is cited can be opened")
struct CitationTests {
  private let tree = SourceTree()

  /// The numbers of a page's headings: `1.6` of `### 1.6 Status codes`.
  private func sections(_ path: String) throws -> Set<String> {
    try Set(tree.text(path).matches(of: #/(?m)^#+ ([0-9]+(?:\.[0-9]+)*)\.? /#).map { String($0.1) })
  }

  /// The anchors of a page's headings, as GitHub makes them.
  private func anchors(_ path: String) throws -> Set<String> {
    try Set(
      tree.text(path).matches(of: #/(?m)^#+ (.+)$/#).map { heading in
        String(
          heading.1.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.map {
            $0 == " " ? "-" : $0
          })
      })
  }

  @Test("code cites pages and sections of docs/ that exist")
  func code() throws {
    let files = try ["Sources", "Tests", "Templates", "Public", "Benchmarks/Sources"].flatMap {
      try tree.files(in: $0, endings: ["swift", "h", "mustache", "js", "css"])
    }
    var cited = 0
    for file in files where file.text.contains("docs/") {
      for citation in file.text.matches(of: #/docs/(?<page>[a-z]+)\.md(?:`? §(?<section>[0-9]+(?:\.[0-9]+)*))?/#) {
        let page = "docs/\(citation.page).md"
        guard tree.exists(page) else {
          Issue.record("\(file.path) cites \(page), which is not there")
          continue
        }
        guard let section = citation.section else { continue }
        cited += 1
        #expect(try sections(page).contains(String(section)), "\(file.path) cites \(page) §\(section)")
      }
    }
    #expect(cited > 10, "citations are found")
  }

  @Test("every link of README.md and docs/ leads somewhere")
  func links() throws {
    let pages = ["README.md"] + (try tree.paths(in: "docs").filter { $0.hasSuffix(".md") })
    for page in pages {
      let folder = page.hasPrefix("docs/") ? "docs/" : ""
      for link in try tree.text(page).matches(of: #/\]\((?<file>[^)#:\s]*)(?:#(?<anchor>[^)\s]+))?\)/#) {
        var target = link.file.isEmpty ? page : folder + link.file
        if target.hasPrefix("docs/../") { target.removeFirst("docs/../".count) }
        guard tree.exists(target) else {
          Issue.record("\(page) links to \(target), which is not there")
          continue
        }
        guard let anchor = link.anchor, target.hasSuffix(".md") else { continue }
        #expect(try anchors(target).contains(String(anchor)), "\(page) links to \(target)#\(anchor)")
      }
    }
  }

  /// Requirements of ASVS 5.0.0, levels 1 and 2, that no test shows: those of documentation, whose row names the page,
  /// and three whose row says why.
  private static let untested: Set = [
    "2.1.3", "6.1.1", "6.1.3", "7.1.1", "13.1.1", "13.2.2", "14.1.1", "14.1.2", "15.1.1", "15.1.2", "15.1.3", "15.2.1",
    "15.3.6", "16.1.1",
  ]

  @Test("the table of OWASP ASVS has all 70 and 183 requirements, tests that exist, and right totals")
  func requirements() throws {
    let text = try tree.text("docs/asvs.md")
    let rows = text.matches(
      of: #/(?m)^\| (?<item>\d+\.\d+\.\d+) [^|]*\| (?<level>\d) \| (?<verdict>[a-z ]+) \| (?<shown>.*) \|$/#)
    #expect(Set(rows.map { $0.item }).count == rows.count, "each once")
    #expect(rows.count { $0.level == "1" } == 70 && rows.count { $0.level == "2" } == 183)
    var counts: [String: [String: Int]] = [:]
    var bare: Set<String> = []
    for row in rows {
      counts[String(row.item.prefix { $0 != "." }), default: [:]][String(row.verdict), default: 0] += 1
      let named = row.shown.matches(of: #/`(?<file>[\w/+]+Tests(?:\+\w+)?\.swift)`(?: \*(?<suite>[^*]+)\*)?/#)
      if named.isEmpty, row.verdict != "not applicable" { bare.insert(String(row.item)) }
      for test in named {
        let path = "Tests/\(test.file)"
        guard tree.exists(path), let suite = test.suite else {
          Issue.record("\(row.item) names \(path), which is not there or has no suite beside it")
          continue
        }
        let source = try tree.text(path)
        #expect(source.contains("\"\(suite)\"") || source.contains("struct \(suite) "), "\(row.item): \(suite)")
      }
    }
    #expect(bare == Self.untested)
    let totals = text.matches(
      of: #/(?m)^\| V(?<chapter>\d+) [^|]*\| *(?<ok>\d*) *\| *(?<weak>\d*) *\| *(?<lost>\d*) *\| *(?<no>\d*) *\|$/#)
    #expect(totals.count == counts.count)
    for line in totals {
      let found = counts[String(line.chapter)] ?? [:]
      let told = [("ok", line.ok), ("weak", line.weak), ("missing", line.lost), ("not applicable", line.no)]
      for (verdict, number) in told {
        #expect((Int(number) ?? 0) == found[verdict, default: 0], "V\(line.chapter) \(verdict)")
      }
    }
    let sums = ["ok", "weak", "missing", "not applicable"].map { verdict in
      "**\(counts.values.reduce(0) { $0 + $1[verdict, default: 0] })**"
    }
    #expect(text.contains("| **all \(rows.count)** | \(sums.joined(separator: " | ")) |"))
  }

  @Test("every path that docs/contributing.md names is there")
  func contributing() throws {
    let roots = "Sources|Tests|Templates|Public|Benchmarks|script|docs"
    let paths = try Regex("`((?:\(roots))/[A-Za-z0-9+._/-]*)[^`]*`", as: (Substring, Substring).self)
    let text = try tree.text("docs/contributing.md")
    let named = text.matches(of: paths).filter { !$0.0.contains { "<*{…".contains($0) } }.map { String($0.1) }
    #expect(named.count > 20, "paths are found")
    for path in named { #expect(tree.exists(path), "\(path) is not there") }
  }
}
