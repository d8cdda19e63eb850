/// Bytes as text, two digits each.
enum Hexadecimal {
  /// As `00AB…` or, with a separator, `00:AB:…`.
  static func encode(_ bytes: some Sequence<UInt8>, separator: String = "", uppercase: Bool = false) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16, uppercase: uppercase)
      return byte < 16 ? "0" + digits : digits
    }.joined(separator: separator)
  }
}
