/// What a provider calls one app on one device by.
///
/// For APNs the bytes behind the hexadecimal digits, for FCM the token's text as UTF-8. Opaque; Apple: "Don't make
/// assumptions about device token size". We take 32 to 200 bytes for APNs (PROTOCOLS §2).
public struct DeviceToken: Sendable, Hashable {
  /// As stored.
  public let bytes: [UInt8]

  /// Takes what the store kept.
  public init(bytes: [UInt8]) { self.bytes = bytes }

  /// Lower-case hexadecimal digits, as APNs wants them in its path.
  public var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// Enough to recognise a token by, not enough to send to it: `77366f0d…832c0113`.
  public var abbreviated: String {
    let text = hexadecimal
    return text.count <= 20 ? text : "\(text.prefix(8))…\(text.suffix(8))"
  }
}
