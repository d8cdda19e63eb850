import Foundation

/// Checks how many key derivation rounds an encrypted file asks for before they are computed.
///
/// A hostile file may ask for two thousand million rounds, an hour of processor time. OpenSSL 3.0 has no limit of its
/// own; files of real programs ask for 1 to 1,000,000.
enum KeyDerivationCost {
  /// About two seconds of one processor. Fuzzing lowers it, because a few changed bytes ask for as much.
  @TaskLocal static var limit: Int = 5_000_000
  /// Stands for any number that is beyond all limits.
  private static let endless = 1 << 32

  /// Whether all visible rounds of the file together are within ``limit``.
  static func isBearable(_ der: some DataProtocol) -> Bool { rounds(in: Array(der)) <= limit }

  /// The visible rounds of the file, at most ``limit`` + 1.
  static func rounds(in der: [UInt8]) -> Int {
    let limit = limit
    return min(rounds(in: der[...], depth: 0, limit: limit), limit + 1)
  }

  private static func rounds(in bytes: ArraySlice<UInt8>, depth: Int, limit: Int) -> Int {
    guard depth < 24 else { return 0 }
    var rest = bytes
    var rounds = 0
    var previous: DER.Element?
    while rounds <= limit {
      let element: DER.Element
      switch DER.header(of: rest) {
      case .whole(let tag, let content):
        element = DER.Element(tag: tag, content: rest[content])
        rest = rest[content.upperBound...]
        // Octet strings contain further structures in PKCS#12.
        if element.isConstructed || tag == DER.octetString {
          rounds += self.rounds(in: element.content, depth: depth + 1, limit: limit)
        }
      case .indefinite:
        // Its end is unknown, but what follows is checked too.
        element = DER.Element(tag: rest[rest.startIndex], content: [])
        rest = rest.dropFirst(2)
      case .truncated, .malformed:
        return rounds
      }
      if element.tag == DER.sequence, let previous, isDerivation(previous) {
        rounds += integers(in: element)
      } else if element.tag == DER.sequence, let previous, isScrypt(previous) {
        rounds += product(in: element)
      }
      previous = element
    }
    return rounds
  }

  /// Password-based algorithms of PKCS#5 (1.2.840.113549.1.5) and PKCS#12 (1.2.840.113549.1.12.1).
  private static func isDerivation(_ element: DER.Element) -> Bool {
    guard element.tag == DER.objectIdentifier else { return false }
    let company: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01]
    return element.content.starts(with: company + [0x05]) || element.content.starts(with: company + [0x0C, 0x01])
  }

  /// scrypt (RFC 7914 §7.1): 1.3.6.1.4.1.11591.4.11.
  private static func isScrypt(_ element: DER.Element) -> Bool {
    element.tag == DER.objectIdentifier
      && element.content.elementsEqual([0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x04, 0x0B])
  }

  /// The parameters are salt, cost N, block size r and parallelization p. Their product is the work; one unit costs
  /// about one round. OpenSSL bounds its memory (32 MB), not its time.
  private static func product(in parameters: DER.Element) -> Int {
    let numbers = (parameters.children ?? []).filter { $0.tag == DER.integer }.prefix(3)
    return numbers.reduce(1) { product, number in
      let digits = number.content.drop { $0 == 0 }
      guard digits.count <= 4 else { return endless }
      let (result, overflows) = product.multipliedReportingOverflow(by: max(1, digits.reduce(0) { $0 << 8 | Int($1) }))
      return overflows ? endless : min(result, endless)
    }
  }

  /// The parameters are salt, rounds and sometimes a key length, which is negligible beside the rounds.
  private static func integers(in parameters: DER.Element) -> Int {
    (parameters.children ?? []).reduce(0) { sum, child in
      guard child.tag == DER.integer else { return sum }
      let digits = child.content.drop { $0 == 0 }
      guard digits.count <= 4 else { return endless }
      return sum + digits.reduce(0) { $0 << 8 | Int($1) }
    }
  }
}
