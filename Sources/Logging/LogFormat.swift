import Foundation

/// How an entry is written on its one line.
package enum LogFormat: String, Sendable, CaseIterable {
  /// `2026-11-20T12:00:00.123Z info signalbox: key=value [Label] message`
  case text
  /// One JSON object.
  case json

  /// The line, with its line break. No value can break out of it: control characters are escaped.
  package func line(_ entry: LogEntry) -> String {
    switch self {
    case .text: textLine(entry)
    case .json: jsonLine(entry)
    }
  }

  private func textLine(_ entry: LogEntry) -> String {
    var line = "\(Self.timestamp(entry.time)) \(entry.level.rawValue) signalbox:"
    for (key, value) in entry.metadata {
      let needsQuotes = value.isEmpty || value.utf8.contains { $0 <= 0x20 || $0 == UInt8(ascii: "\"") || $0 == 0x3d }
      line += " \(Self.escaped(key))=" + (needsQuotes ? "\"\(Self.escaped(value))\"" : Self.escaped(value))
    }
    return line + " [\(Self.escaped(entry.label))] \(Self.escaped(entry.message))\n"
  }

  private func jsonLine(_ entry: LogEntry) -> String {
    var line = "{\"time\":\"\(Self.timestamp(entry.time))\",\"level\":\"\(entry.level.rawValue)\""
    line += ",\"label\":\"\(Self.escaped(entry.label))\",\"message\":\"\(Self.escaped(entry.message))\""
    for (key, value) in entry.metadata { line += ",\"\(Self.escaped(key))\":\"\(Self.escaped(value))\"" }
    return line + "}\n"
  }

  /// Text that is safe inside quotation marks, in JSON too.
  static func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isDangerous) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where isDangerous(scalar):
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Control characters, of the second set too, line and paragraph separators, and what ends a quoted text.
  private static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) || scalar == "\"" || scalar == "\\"
      || scalar.value == 0x2028 || scalar.value == 0x2029
  }

  /// RFC 3339 in UTC with milliseconds, without a formatter: those are dear on Linux.
  static func timestamp(_ date: Date) -> String {
    let milliseconds = Int((date.timeIntervalSince1970 * 1000).rounded(.down))
    let seconds = milliseconds.flooredQuotient(1000)
    var time = time_t(seconds)
    var parts = tm()
    gmtime_r(&time, &parts)
    func padded(_ number: Int, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    let day =
      "\(padded(Int(parts.tm_year) + 1900, 4))-\(padded(Int(parts.tm_mon) + 1, 2))-\(padded(Int(parts.tm_mday), 2))"
    let clock = "\(padded(Int(parts.tm_hour), 2)):\(padded(Int(parts.tm_min), 2)):\(padded(Int(parts.tm_sec), 2))"
    return "\(day)T\(clock).\(padded(milliseconds - seconds * 1000, 3))Z"
  }
}

extension Int {
  fileprivate func flooredQuotient(_ divisor: Int) -> Int { (self - ((self % divisor) + divisor) % divisor) / divisor }
}
