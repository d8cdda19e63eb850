/// Which answers are worth compressing, and who takes them so (RFC 9110 sections 8.4 and 12.5.3).
enum ContentCoding {
  /// Shorter bodies fit into a packet or two as they are.
  static let leastBytes = 1024

  /// Whether `Accept-Encoding` names gzip, or everything, without a weight of 0. Not said is not taken: what sends no
  /// such field may be a script that writes the bytes to a file.
  static func takesGzip(_ field: String?) -> Bool {
    guard let field else { return false }
    var everything = false
    for element in field.split(separator: ",") {
      let parts = element.split(separator: ";").map(\.trimmedOfSpace)
      guard let name = parts.first else { continue }
      let isTaken = !parts.dropFirst().contains { isZero($0) }
      if name.equalsIgnoringCase("gzip") || name.equalsIgnoringCase("x-gzip") { return isTaken }
      if name == "*" { everything = isTaken }
    }
    return everything
  }

  /// `q=0`, `q=0.000`.
  private static func isZero(_ parameter: Substring) -> Bool {
    let parts = parameter.split(separator: "=", maxSplits: 1)
    guard parts.count == 2, parts[0].trimmedOfSpace.equalsIgnoringCase("q") else { return false }
    return Double(parts[1].trimmedOfSpace) == 0
  }

  private static let texts = ["application/json", "application/xml", "application/yaml", "application/x-ndjson"]

  /// Whether a media type is text, which gets much shorter. Pictures and archives are compressed already.
  static func isText(_ type: String) -> Bool {
    // The usual one, without a look at its parts.
    if type == "application/json" { return true }
    let type = type.prefix { $0 != ";" }.trimmedOfSpace
    return type.prefix(5).equalsIgnoringCase("text/") || type.suffix(5).equalsIgnoringCase("+json")
      || type.suffix(4).equalsIgnoringCase("+xml") || texts.contains { type.equalsIgnoringCase($0) }
  }
}
