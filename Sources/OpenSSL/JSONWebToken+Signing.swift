import Foundation

extension JSONWebToken {
  package enum Algorithm: String, Sendable, Hashable {
    /// ECDSA on P-256, for Apple.
    case es256 = "ES256"
    /// RSA, for Google.
    case rs256 = "RS256"
  }

  /// The value of a claim.
  package enum Claim: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    case string(String)
    case integer(Int64)

    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }

    var json: String {
      switch self {
      case .integer(let value): return String(value)
      case .string(let value):
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        // A text can always be encoded.
        return String(decoding: (try? encoder.encode(value)) ?? Data(), as: UTF8.self)
      }
    }
  }

  /// Creates a signed token.
  ///
  /// - Parameters:
  ///   - header: the members after `alg`, in this order.
  ///   - claims: in this order.
  /// - Throws: ``OpenSSLError``, also if the key does not match the algorithm.
  package static func sign(
    _ algorithm: Algorithm, key: PrivateKey, header: [(String, Claim)] = [], claims: [(String, Claim)]
  ) throws(OpenSSLError) -> String {
    let header = [("alg", Claim.string(algorithm.rawValue))] + header
    let signed = "\(encode(header)).\(encode(claims))"
    let signature =
      switch algorithm {
      case .es256: try key.signES256(Array(signed.utf8))
      case .rs256: try key.signRS256(Array(signed.utf8))
      }
    return "\(signed).\(Base64URL.encode(signature))"
  }

  private static func encode(_ members: [(String, Claim)]) -> String {
    let text = members.map { "\(Claim.string($0.0).json):\($0.1.json)" }.joined(separator: ",")
    return Base64URL.encode(Array("{\(text)}".utf8))
  }
}
