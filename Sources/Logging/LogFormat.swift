import Calendar

package enum LogFormat: String, Sendable, CaseIterable {
  /// `2026-11-20T12:00:00.123Z info signalbox: key=value [Label] message`
  case text
  /// One JSON object.
  case json

  /// Ends with a line break. Control characters in values are escaped, so that no value can fake a line.
  package func line(_ entry: LogEntry) -> String {
    switch self {
    case .text: textLine(entry)
    case .json: jsonLine(entry)
    }
  }

  private func textLine(_ entry: LogEntry) -> String {
    var line = "\(Timestamp.text(entry.time, alwaysMilliseconds: true)) \(entry.level.rawValue) signalbox:"
    for (key, value) in entry.metadata {
      let needsQuotes = value.isEmpty || value.utf8.contains { $0 <= 0x20 || $0 == UInt8(ascii: "\"") || $0 == 0x3d }
      line += " \(Self.escaped(key))=" + (needsQuotes ? "\"\(Self.escaped(value))\"" : Self.escaped(value))
    }
    return line + " [\(Self.escaped(entry.label))] \(Self.escaped(entry.message))\n"
  }

  private func jsonLine(_ entry: LogEntry) -> String {
    let time = Timestamp.text(entry.time, alwaysMilliseconds: true)
    var line = "{\"time\":\"\(time)\",\"level\":\"\(entry.level.rawValue)\""
    line += ",\"label\":\"\(Self.escaped(entry.label))\",\"message\":\"\(Self.escaped(entry.message))\""
    for (key, value) in entry.metadata { line += ",\"\(Self.escaped(key))\":\"\(Self.escaped(value))\"" }
    return line + "}\n"
  }

  /// Safe inside quotation marks, also in JSON.
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

  /// Control characters, including C1, line and paragraph separators, quotation marks and backslashes.
  private static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) || scalar == "\"" || scalar == "\\"
      || scalar.value == 0x2028 || scalar.value == 0x2029
  }

}
