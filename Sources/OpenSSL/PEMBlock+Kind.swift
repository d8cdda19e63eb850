package import Foundation

extension PEMBlock {
  /// Whether it says that it holds a certificate.
  package var isCertificate: Bool { Certificate.pemLabels.contains(label) }
  /// Whether it says that it holds a private key, encrypted or not.
  package var isPrivateKey: Bool { label == "PRIVATE KEY" || label.hasSuffix(" PRIVATE KEY") }
  /// Whether a password is needed to read it.
  package var isEncrypted: Bool { label == "ENCRYPTED PRIVATE KEY" || headers.contains("ENCRYPTED") }

  /// What it says that it is, in words: `a certificate`.
  package var plainName: String {
    switch label {
    case let label where Certificate.pemLabels.contains(label): "a certificate"
    case "PUBLIC KEY", "RSA PUBLIC KEY": "a public key"
    case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST": "a certificate request"
    case "EC PARAMETERS": "curve parameters"
    case "PKCS7", "CMS": "a signed message"
    case "X509 CRL": "a certificate revocation list"
    case _ where isPrivateKey: "a private key"
    default: "“\(label)”"
    }
  }

  /// The certificate in the block: behind the one of a `TRUSTED CERTIFICATE` stand OpenSSL's own notes.
  package var certificateContent: Data {
    guard label == "TRUSTED CERTIFICATE", let end = Self.endOfBinary(content) else { return content }
    return content.prefix(end)
  }

  /// Where the first value of binary data ends, nil if its length is not said or lies.
  package static func endOfBinary(_ data: Data) -> Int? {
    guard case .whole(_, let content) = DER.header(of: Array(data)[...]) else { return nil }
    return content.upperBound
  }
}

extension PrivateKey {
  /// Whether all the keys of a file together can be opened in some seconds; each by itself may be.
  package static func isBearable(_ blocks: [PEMBlock]) -> Bool {
    blocks.reduce(0) { $0 + KeyDerivationCost.rounds(in: Array($1.content)) } <= KeyDerivationCost.limit
  }
}
