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
