/// What stands before the content of one part of a form.
package struct MultipartPart: Sendable, Equatable {
  /// The form field.
  package let name: String
  /// The file's own name without folders and control characters, if the part is a file. A label only: nothing may be
  /// stored under it.
  package let fileName: String?
  /// `Content-Type`, if the part has one.
  package let contentType: String?

  /// - Returns: nil unless there is a `Content-Disposition: form-data` with a name.
  init?(headers: [(name: String, value: String)]) {
    let dispositions = headers.filter { $0.name == "content-disposition" }
    guard dispositions.count == 1, let disposition = FieldParameters(dispositions[0].value),
      disposition.value == "form-data", let name = disposition["name"]
    else { return nil }
    self.name = Self.unescape(name)
    fileName = disposition["filename"].map { Self.label(Self.unescape($0)) }
    contentType = headers.first { $0.name == "content-type" }?.value
  }

  /// Browsers write these three, and only these, as escapes (HTML standard, section 4.10.21.8).
  private static func unescape(_ text: String) -> String {
    guard text.contains("%") else { return text }
    var result = ""
    var rest = text[...]
    while let first = rest.first {
      switch rest.prefix(3) {
      case "%22": result.append("\"")
      case "%0D": result.append("\r")
      case "%0A": result.append("\n")
      default:
        result.append(first)
        rest = rest.dropFirst()
        continue
      }
      rest = rest.dropFirst(3)
    }
    return result
  }

  private static func label(_ name: String) -> String {
    let last = name.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last ?? ""
    return String(last.unicodeScalars.filter { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
  }
}
