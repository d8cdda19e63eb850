import Foundation
import HTTPServer

/// The path below which a proxy serves the console, from `--address https://host/push`. Pages, redirects and scripts are
/// written for the root of a host; here the path is put before their links.
struct BasePath: Sendable {
  let served: ServedPath

  init(_ address: String?) {
    served = ServedPath(address.flatMap { URLComponents(string: $0)?.percentEncodedPath } ?? "")
  }

  /// The attributes that name an address of this console; of a form's `value` it is the text that somebody entered.
  private static let attributes = ["href", "src", "action", "formaction"].map { Array($0.utf8) }

  /// Puts the path before the links of a page and the target of a redirect.
  func add(to response: inout Response) {
    guard !served.text.isEmpty else { return }
    if let place = response.headers["Location"], place.hasPrefix("/"), !place.hasPrefix("//") {
      response.headers["Location"] = served.text + place
    }
    guard case .bytes(let bytes) = response.body, response.headers["Content-Type"]?.hasPrefix("text/html") == true
    else { return }
    response.body = .bytes(page(bytes))
  }

  /// Quotes in texts are escaped, so that only attributes have the bytes that are looked for.
  private func page(_ bytes: [UInt8]) -> [UInt8] {
    let (quote, slash, equals) = (UInt8(ascii: "\""), UInt8(ascii: "/"), UInt8(ascii: "="))
    let prefix = Array(served.text.utf8)
    var page: [UInt8] = []
    page.reserveCapacity(bytes.count + bytes.count / 8)
    var copied = 0
    for index in bytes.indices where bytes[index] == equals && index + 2 < bytes.count {
      guard bytes[index + 1] == quote, bytes[index + 2] == slash, index + 3 == bytes.count || bytes[index + 3] != slash
      else { continue }
      let start = bytes[..<index].lastIndex { $0 <= 0x20 } ?? 0
      let name = bytes[min(start + 1, index)..<index]
      guard Self.attributes.contains(where: name.elementsEqual) || name.starts(with: "data-".utf8) else { continue }
      page += bytes[copied..<index + 2]
      page += prefix
      copied = index + 2
    }
    page += bytes[copied...]
    // Scripts ask for it.
    guard let body = page.firstRange(of: Array("<body".utf8)) else { return page }
    page.insert(contentsOf: Array(" data-base=\"\(served.text)\"".utf8), at: body.upperBound)
    return page
  }
}
