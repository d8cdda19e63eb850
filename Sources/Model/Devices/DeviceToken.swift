/// What a provider calls one app on one device by.
///
/// For APNs the bytes behind the hexadecimal digits, for FCM the token's text as UTF-8. Opaque; Apple: "Don't make
/// assumptions about device token size". We take 32 to 200 bytes for APNs (docs/protocols.md §2).
package struct DeviceToken: Sendable, Hashable {
  /// As stored.
  package let bytes: [UInt8]

  /// Takes what the store kept.
  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// Lower-case hexadecimal digits, as APNs wants them in its path.
  package var hexadecimal: String {
    func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x61 + value - 10 }
    return String(unsafeUninitializedCapacity: bytes.count * 2) { text in
      for (index, byte) in bytes.enumerated() {
        text[index * 2] = digit(byte >> 4)
        text[index * 2 + 1] = digit(byte & 15)
      }
      return bytes.count * 2
    }
  }

  /// Enough to recognise a token by, not enough to send to it: `77366f0d…832c0113`.
  package var abbreviated: String {
    let text = hexadecimal
    return text.count <= 20 ? text : "\(text.prefix(8))…\(text.suffix(8))"
  }
}
