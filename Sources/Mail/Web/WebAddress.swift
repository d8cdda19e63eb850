internal import Foundation

/// Where a webhook may go.
package enum WebAddress {
  /// Whether an address can be used: https, or plain http to this very machine; a host, no name and password in it, no
  /// blanks or control characters.
  package static func isUsable(_ text: String) -> Bool {
    guard text.utf8.count <= 2048, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
      let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(), let host = parts.host,
      !host.isEmpty, parts.user == nil, parts.password == nil, parts.fragment == nil
    else { return false }
    return scheme == "https" || (scheme == "http" && Loopback.isLoopback(host))
  }

  /// As `hooks.slack.com`: what may be shown of an address that is a secret itself.
  package static func host(_ text: String) -> String { URLComponents(string: text)?.host ?? "" }

  /// The address with more in its query.
  static func adding(_ items: [(name: String, value: String)], to url: String) -> String {
    let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
    let query = items.map { "\($0.name)=\($0.value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")" }
    return url + (url.contains("?") ? "&" : "?") + query.joined(separator: "&")
  }
}
