import Foundation
import JSON
import Model

/// Reads only the audience from a draft's JSON: a list page shows 50 pushes.
struct DraftAudience {
  /// Nil if the draft cannot be read.
  let audience: Audience?

  init(_ draft: String) {
    var draft = draft
    let found = draft.withUTF8 { bytes in
      var scanner = MemberScanner(bytes: bytes)
      return scanner.members(["audience", "platforms"])
    }
    guard let audience = found["audience"] else {
      self.audience = nil
      return
    }
    if audience == "\"all\"" {
      self.audience = .all
      return
    }
    let platforms = found["platforms"].map { ",\"platforms\":\($0)" } ?? ""
    let value = try? JSONValue(parsing: Data("{\"audience\":\(audience)\(platforms)}".utf8))  // nil: of another version
    self.audience = value.flatMap(Audience.init(draft:))
  }
}

/// Finds members of a JSON object by name and skips their values.
private struct MemberScanner {
  let bytes: UnsafeBufferPointer<UInt8>
  private var index = 0

  init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  mutating func members(_ names: [StaticString]) -> [String: String] {
    var found: [String: String] = [:]
    skipBlanks()
    guard take(UInt8(ascii: "{")) else { return found }
    while index < bytes.count, found.count < names.count {
      skipBlanks()
      guard let name = string() else { return found }
      skipBlanks()
      guard take(UInt8(ascii: ":")) else { return found }
      skipBlanks()
      let start = index
      skipValue()
      if let wanted = names.first(where: { matches($0, name) }) {
        found["\(wanted)"] = String(decoding: bytes[start..<index], as: UTF8.self)
      }
      skipBlanks()
      guard take(UInt8(ascii: ",")) else { return found }
    }
    return found
  }

  private func matches(_ name: StaticString, _ range: Range<Int>) -> Bool {
    let wanted = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    return bytes[range].elementsEqual(wanted)
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  private mutating func skipBlanks() {
    while index < bytes.count, bytes[index] <= 0x20 { index += 1 }
  }

  /// The raw text between the quotes, still escaped.
  private mutating func string() -> Range<Int>? {
    guard take(UInt8(ascii: "\"")) else { return nil }
    let start = index
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    guard index < bytes.count else { return nil }
    defer { index += 1 }
    return start..<index
  }

  private mutating func skipValue() {
    var depth = 0
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""):
        guard string() != nil else {
          index = bytes.count
          return
        }
        if depth == 0 { return }
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return }
        depth -= 1
        if depth == 0 {
          index += 1
          return
        }
      case UInt8(ascii: ","):
        if depth == 0 { return }
      default: break
      }
      index += 1
    }
  }
}
