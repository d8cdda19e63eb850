import Foundation
import Synchronization

/// What axe said of each page, in each language, width and color scheme; printed at the end.
final class AuditTable: Sendable {
  /// How a page is looked at.
  struct Look: Hashable, Sendable {
    let language: String
    let width: Int
    let dark: Bool

    var name: String { "\(language) \(width) \(dark ? "dark" : "light")" }
  }

  private struct Cells: Sendable {
    var pages: [String] = []
    var looks: [Look] = []
    var violations: [String: [Look: Int]] = [:]
  }

  private let cells = Mutex(Cells())

  func note(_ page: String, _ look: Look, violations: Int) {
    cells.withLock { cells in
      if cells.violations[page] == nil { cells.pages.append(page) }
      if !cells.looks.contains(look) { cells.looks.append(look) }
      cells.violations[page, default: [:]][look, default: 0] += violations
    }
  }

  /// A line for each page, a column for each look, and the sum.
  var text: String {
    cells.withLock { cells in
      let looks = cells.looks.sorted { $0.name < $1.name }
      var lines = ["| page | " + looks.map(\.name).joined(separator: " | ") + " |"]
      lines.append(String(repeating: "| --- ", count: looks.count + 1) + "|")
      for page in cells.pages {
        let counts = looks.map { cells.violations[page]?[$0].map(String.init) ?? "" }
        lines.append("| \(page) | " + counts.joined(separator: " | ") + " |")
      }
      let all = cells.violations.values.flatMap(\.values)
      lines.append("axe: \(all.reduce(0, +)) violations in \(all.count) looks at \(cells.pages.count) pages")
      return lines.joined(separator: "\n")
    }
  }
}

/// axe-core, which `script/test` installs; nil: it could not.
enum Axe {
  static let source: String? = ProcessInfo.processInfo.environment["SIGNALBOX_TEST_AXE"].flatMap {
    // Unreadable is as good as not installed: the tests that need it fail or are skipped.
    try? String(contentsOfFile: $0, encoding: .utf8) + memory
  }

  /// A page has a dozen colors, and axe reads them thousands of times, in two fifths of its time: each text once.
  private static let memory = """
    ;{
      const color = axe.commons.color.Color.prototype;
      const read = color.parseString;
      const known = new Map();
      color.parseString = function (text) {
        if (known.has(text)) {
          [this.r, this.g, this.b, this.alpha] = known.get(text);
          return this;
        }
        read.call(this, text);
        known.set(text, [this.r, this.g, this.b, this.alpha]);
        return this;
      };
    }
    """

  /// All rules for WCAG 2.2 AA and good practice, from the top of the page: what a bar at the window's edge covers
  /// elsewhere depends on where one has scrolled to. No rule of these reads the style sheets, which it would else fetch.
  static let script = script(
    "{ type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }")

  /// The rules that look at colors: the dark scheme changes nothing that the others look at.
  static let colors = script("{ type: 'rule', values: ['color-contrast', 'link-in-text-block'] }")

  private static func script(_ rules: String) -> String {
    """
    scrollTo(0, 0);
    return axe.run(document, { resultTypes: ['violations'], preload: false, runOnly: \(rules) })
      .then(({ violations }) => violations.map(({ id, nodes }) =>
        `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' and ')}`));
    """
  }
}
