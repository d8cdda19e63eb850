extension PEMBlock {
  /// Whether it says that it holds a certificate.
  public var isCertificate: Bool { Certificate.pemLabels.contains(label) }
  /// Whether it says that it holds a private key, encrypted or not.
  public var isPrivateKey: Bool { label == "PRIVATE KEY" || label.hasSuffix(" PRIVATE KEY") }
  /// Whether a password is needed to read it.
  public var isEncrypted: Bool { label == "ENCRYPTED PRIVATE KEY" || headers.contains("ENCRYPTED") }

  /// What it says that it is, in words: `a certificate`.
  public var plainName: String {
    switch label {
    case let label where Certificate.pemLabels.contains(label): "a certificate"
    case "PUBLIC KEY", "RSA PUBLIC KEY": "a public key"
    case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST": "a certificate request"
    case "EC PARAMETERS": "the parameters of a curve"
    case "PKCS7", "CMS": "a signed message"
    case "X509 CRL": "a list of revoked certificates"
    case _ where isPrivateKey: "a private key"
    default: "“\(label)”"
    }
  }
}
