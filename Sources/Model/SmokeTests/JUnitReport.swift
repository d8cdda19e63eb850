import Calendar
package import Foundation

/// Results as JUnit XML, which CI servers read: one test case for each smoke test.
package struct JUnitReport: Sendable {
  package struct Case: Sendable {
    package let name: String
    /// Shown as the class: where the test belongs.
    package let group: String
    /// Seconds.
    package let time: Double
    /// What was not as expected; nil: it passed.
    package let failure: String?
    /// Further lines of a failure.
    package let detail: String

    package init(name: String, group: String, time: Double, failure: String?, detail: String) {
      (self.name, self.group, self.time, self.failure, self.detail) = (name, group, time, failure, detail)
    }
  }

  private static let suite = "signalbox smoke"
  private let startedAt: Date
  private let cases: [Case]

  package init(startedAt: Date, _ cases: [Case]) { (self.startedAt, self.cases) = (startedAt, cases) }

  package var text: String {
    let failures = cases.count { $0.failure != nil }
    let seconds = Self.seconds(cases.reduce(0) { $0 + $1.time })
    let counts = #"tests="\#(cases.count)" failures="\#(failures)" errors="0" skipped="0" time="\#(seconds)""#
    // The form of Jenkins' schema has a local time without a zone.
    let start = Timestamp.text(Date(timeIntervalSince1970: startedAt.timeIntervalSince1970.rounded(.down))).dropLast()
    let head = #"<testsuite name="\#(Self.escaped(Self.suite))" \#(counts) timestamp="\#(start)">"#
    let lines = cases.map { one in
      let place = #"classname="\#(Self.escaped(one.group))" name="\#(Self.escaped(one.name))""#
      let opening = #"    <testcase \#(place) time="\#(Self.seconds(one.time))""#
      guard let failure = one.failure else { return opening + "/>" }
      let text = #"      <failure message="\#(Self.escaped(failure))" type="difference">\#(Self.escaped(one.detail))"#
      return [opening + ">", text + "</failure>", "    </testcase>"].joined(separator: "\n")
    }
    return
      ([#"<?xml version="1.0" encoding="UTF-8"?>"#, "<testsuites \(counts)>", "  " + head] + lines + [
        "  </testsuite>", "</testsuites>", "",
      ]).joined(separator: "\n")
  }

  private static func seconds(_ time: Double) -> String { String(format: "%.3f", max(0, time)) }

  /// Also leaves out characters that XML 1.0 does not allow at all.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "\n": escaped += "&#10;"
      case "\t": escaped += " "
      case _ where scalar.value < 32 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: continue
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
