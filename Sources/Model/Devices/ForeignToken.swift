import Text

/// Addresses of devices that other services give, by their shape: without their name, somebody would look for a typing
/// mistake in them (docs/protocols.md §2).
enum ForeignToken {
  /// Nil: it may be a token of Apple's, Firebase's or JPush's.
  static func problem(with text: String) -> Problem? {
    func starts(_ beginnings: String...) -> Bool { beginnings.contains(where: text.hasPrefix) }
    if starts("ExponentPushToken[", "ExpoPushToken[") { return Problem("", TokenMessage.expo) }
    if starts("https://", "http://") || (starts("{") && text.contains("\"endpoint\"")) {
      let isWindows = text.contains(".notify.windows.com")
      return Problem("", isWindows ? TokenMessage.windows : TokenMessage.webPush)
    }
    if starts("arn:aws:sns:") { return Problem("", TokenMessage.amazonEndpoint) }
    if starts("amzn1.adm-registration.") { return maker("Amazon") }
    if starts("IQAAAAC", "MAMzLg") { return maker("Huawei") }
    if starts("OPPO_", "CN_"), text.utf8.count >= 35 { return maker("OPPO") }
    if starts("/topics/") { return Problem("", TokenMessage.topic) }
    if isUUID(text) { return Problem("", TokenMessage.uuid) }
    return nil
  }

  private static func maker(_ name: String) -> Problem { Problem("", TokenMessage.maker, ["maker": name]) }

  /// As `5fb6a1de-0d39-4e1d-9c7f-1e3a6f0a5b11`.
  private static func isUUID(_ text: String) -> Bool {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    return groups.map(\.utf8.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { $0.allSatisfy(\.isHexDigit) }
  }
}
