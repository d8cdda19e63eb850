import Push

extension FileProblem.Found {
  /// Names what was found, and what was expected instead.
  var problem: Problem {
    Problem("file", code: "file.not_a_certificate.\(rawValue)", "\(template) \(Self.expected)")
  }

  private static let expected =
    "Expected: a certificate with its key (.p12, .pfx, .pem), a certificate (.cer, .crt), an APNs key (.p8) or a "
    + "provisioning profile (.mobileprovision)."

  private var template: String {
    switch self {
    case .unknown: "This is no certificate file, or it is damaged from its first bytes on."
    case .text: "This is a text without a certificate or key in it."
    case .image: "This is an image."
    case .archive: "This is an archive: unpack it and choose the file inside."
    case .document: "This is a document (PDF)."
    case .webPage: "This is a web page: the download asked for a sign-in and saved the page instead of the file."
    case .json: "This is a JSON file."
    case .serviceAccount: "This is a service account of Google, which FCM uses."
    case .publicKey: "This is a public key alone."
    case .certificateRequest:
      "This is a certificate request: upload it at Apple's developer site, and bring what you get for it."
    case .certificateBundle: "This is a bundle of issuers' certificates (.p7b) without a key."
    case .otherPEM: "This is a text in PEM form, with neither a certificate nor a private key in it."
    }
  }

  /// Looks at the first bytes of a file that nothing could be made of.
  init(lookingAt bytes: [UInt8]) {
    func starts(_ text: String) -> Bool { bytes.starts(with: text.utf8) }
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) || bytes.starts(with: [0xFF, 0xD8, 0xFF]) || starts("GIF8") {
      self = .image
    } else if starts("PK\u{3}\u{4}") || bytes.starts(with: [0x1F, 0x8B]) || starts("7z") || starts("Rar!") {
      self = .archive
    } else if starts("%PDF") {
      self = .document
    } else if let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) {
      let start = text.prefix(4096).drop(while: \.isWhitespace).lowercased()
      if start.hasPrefix("<!doctype html") || start.hasPrefix("<html") {
        self = .webPage
      } else if start.hasPrefix("{") {
        self = text.contains("\"service_account\"") ? .serviceAccount : .json
      } else {
        self = .text
      }
    } else {
      self = .unknown
    }
  }
}
