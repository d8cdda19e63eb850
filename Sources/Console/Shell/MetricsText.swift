import Store
import Text

/// Prometheus' text format 0.0.4.
struct MetricsText {
  private(set) var text = ""

  /// Adds a gauge with its samples. Empty labels are omitted, which Prometheus treats the same.
  mutating func gauge(_ name: String, _ help: String, _ samples: [(labels: [String: String], value: Double)]) {
    head(name, help, "gauge")
    for sample in samples { add(name, sample.labels, sample.value) }
  }

  /// Adds a histogram, in the order of its labels.
  mutating func histogram(
    _ name: String, _ help: String, _ samples: [(labels: [String: String], value: ServiceTimes.Histogram)]
  ) {
    head(name, help, "histogram")
    for (labels, histogram) in samples.sorted(by: { "\($0.labels.sorted(by: <))" < "\($1.labels.sorted(by: <))" }) {
      var count = 0
      let bounds = ServiceTimes.Histogram.bounds.map { "\($0)" } + ["+Inf"]
      for (bound, more) in zip(bounds, histogram.counts) {
        count += more
        add(name + "_bucket", labels.merging(["le": bound]) { $1 }, Double(count))
      }
      add(name + "_sum", labels, histogram.sum)
      add(name + "_count", labels, Double(count))
    }
  }

  private mutating func head(_ name: String, _ help: String, _ type: String) {
    text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(type)\n"
  }

  private mutating func add(_ name: String, _ labels: [String: String], _ value: Double) {
    let labels = labels.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
      .map { "\($0.key)=\"\(Self.escaped($0.value, quotes: true))\"" }
    let list = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
    let isWhole = value == value.rounded() && abs(value) < 1e15
    text += "\(name)\(list) \(isWhole ? "\(Int64(value))" : "\(value)")\n"
  }

  /// Works on bytes: in Swift, `\r\n` is one character, which is not equal to `\n`.
  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped: [UInt8] = []
    for byte in text.singleLine.utf8 {
      switch byte {
      case UInt8(ascii: "\\"): escaped += Array("\\\\".utf8)
      case UInt8(ascii: "\n"): escaped += Array("\\n".utf8)
      case UInt8(ascii: "\"") where quotes: escaped += Array("\\\"".utf8)
      default: escaped.append(byte)
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }
}
