import Foundation

/// A `curl` command, as people copy it from documents and terminals, or the request that one makes.
struct CurlCommand: Sendable {
  private(set) var address = ""
  /// Names in lower case.
  private(set) var headers: [(name: String, value: String)] = []
  private(set) var body = ""
  /// Why there is no body; nil: there is one.
  private(set) var unread: Problem?
  /// Whether it signs in with `--user` or a client certificate.
  private(set) var hasCredential = false

  func header(_ name: String) -> String? { headers.last { $0.name == name }?.value }

  /// The address without scheme and host.
  var path: Substring {
    let rest = address.split(separator: "://", maxSplits: 1).last ?? ""
    return rest[(rest.firstIndex(of: "/") ?? rest.endIndex)...].prefix { $0 != "?" }
  }

  /// In lower case, without the port.
  var host: String {
    let rest = address.split(separator: "://", maxSplits: 1).last ?? ""
    return rest.prefix { !"/:?".contains($0) }.lowercased()
  }

  /// Whether a text is meant to be a command.
  static func isCommand(_ text: Substring) -> Bool { afterPrompt(text) != nil }

  /// What stands behind `curl`, without a shell's prompt that was copied along, such as `$ ` or `PS C:\>`.
  private static func afterPrompt(_ text: Substring) -> Substring? {
    let line = text.prefix { !$0.isNewline }
    let prompt = #/(\S{0,80}[$%#>] ?|(PS )?[A-Za-z]:[^>"']{0,200}> ?)?curl(\.exe)?(?=\s|$)/#
    return line.prefixMatch(of: prompt).map { text[$0.range.upperBound...] }
  }

  /// Short options with a value, and the long names of those that matter here.
  private static let short: [Character: String] = [
    "H": "header", "d": "data", "u": "user", "E": "cert", "X": "request", "o": "output", "A": "user-agent",
    "e": "referer", "b": "cookie", "c": "cookie-jar", "m": "max-time", "w": "write-out", "x": "proxy",
    "T": "upload-file", "F": "form", "K": "config",
  ]
  private static let data: Set<String> = ["data", "data-raw", "data-binary", "data-ascii", "json"]
  private static let withValue: Set<String> = data.union(short.values).union([
    "url", "key", "cacert", "capath", "cert-type", "key-type", "pass", "connect-timeout", "connect-to", "resolve",
    "retry", "retry-delay", "retry-max-time", "interface", "proxy-user", "oauth2-bearer", "data-urlencode",
    "max-redirs", "ciphers",
  ])

  /// - Throws: a problem with the command.
  init(_ text: String) throws(Problem) {
    let shell = Shell(of: text)
    var words = try shell.words(Self.afterPrompt(text[...]) ?? text[...])[...]
    var parts: [String] = []
    func value(_ name: String) throws(Problem) -> String {
      guard let value = words.popFirst() else { throw Problem("", DialectMessage.curlValue, ["option": name]) }
      return value
    }
    while let word = words.popFirst() {
      if word.hasPrefix("--"), word.count > 2 {
        let name = String(word.dropFirst(2))
        guard Self.withValue.contains(name) else { continue }
        take(name, try value(word), &parts)
      } else if word.hasPrefix("-"), word.count > 1 {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
          guard let name = Self.short[letter] else { continue }
          take(name, letters.isEmpty ? try value(word) : String(letters), &parts)
          break
        }
      } else {
        address = word
      }
    }
    body = parts.joined(separator: "&")
    // In whatever quotes of a shell the data stand, a Windows program gets its own as `\"`.
    if body.hasPrefix("{"), body.dropFirst().drop(while: \.isWhitespace).hasPrefix("\\\"") {
      var rest = (body + "\"")[...]
      body = try Shell.windows.doubleQuoted(&rest)
    }
  }

  /// Whether a text is a request as HTTP/1.1 writes it. The page of a delivery shows requests so, and many logs do.
  static func isRequest(_ text: String) -> Bool { text.hasPrefix("POST /") }

  /// A request of ``isRequest(_:)``: its line, headers, and the body, which may follow without an empty line.
  init(request text: String) {
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    let head = lines.prefix { !$0.allSatisfy(\.isWhitespace) && !$0.hasPrefix("{") }
    var parts: [String] = []
    for line in head.dropFirst() { take("header", String(line), &parts) }
    let path = head.first?.split(separator: " ").dropFirst().first ?? ""
    address = "https://\(header("host") ?? "")\(path)"
    body = lines.dropFirst(head.count).joined(separator: "\n")
  }

  private mutating func take(_ name: String, _ value: String, _ parts: inout [String]) {
    if Self.data.contains(name) {
      if value.hasPrefix("@"), name != "data-raw" {
        unread = Problem("", DialectMessage.curlFile, ["file": value])
      } else {
        parts.append(value)
      }
    } else if name == "header" {
      guard let colon = value.firstIndex(of: ":") else { return }
      let text = value[value.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      headers.append((value[..<colon].lowercased(), text))
    } else if name == "url" {
      address = value
    } else if ["user", "cert", "key", "oauth2-bearer"].contains(name) {
      hasCredential = true
    }
  }
}
