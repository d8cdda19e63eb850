import Foundation
import OpenSSL
import Model
import Text

extension FileProblem.Found {
  /// Signatures of binary file types.
  private static let beginnings: [([UInt8], FileProblem.Found)] = [
    ([0x89, 0x50, 0x4E, 0x47], .image), ([0xFF, 0xD8, 0xFF], .image), (Array("GIF8".utf8), .image),
    ([0x1F, 0x8B], .archive), (Array("7z\u{BC}\u{AF}".unicodeScalars.map { UInt8($0.value) }), .archive),
    (Array("Rar!".utf8), .archive), (Array("xar!".utf8), .archive), (Array("BZh".utf8), .archive),
    (Array("%PDF".utf8), .document), ([0xD0, 0xCF, 0x11, 0xE0], .wordDocument),
    // Sun's keystore, its encrypted variant, and Bouncy Castle's.
    ([0xFE, 0xED, 0xFE, 0xED], .keystore), ([0xCE, 0xCE, 0xCE, 0xCE], .keystore),
    ([0, 0, 0, 2, 0, 0, 0, 20], .keystore),
    (Array("kych".utf8), .keychain), ([0x00, 0x05, 0x16, 0x07], .macCompanion),
    (Array("bplist00".utf8), .propertyList), ([0x99, 0x01], .pgpKey), ([0x95, 0x01], .pgpKey),
    ([0xFE, 0xED, 0xFA], .app), ([0xCF, 0xFA, 0xED, 0xFE], .app), ([0x7F, 0x45, 0x4C, 0x46], .app),
  ]

  /// Recognizes an unsupported binary file by its first bytes.
  init(lookingAt bytes: [UInt8]) {
    if bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) {
      self = Self.zip(bytes)
    } else if let known = Self.beginnings.first(where: { bytes.starts(with: $0.0) }) {
      self = known.1
    } else {
      self = Self.isReadAsText(bytes) ? .readAsText : .unknown
    }
  }

  /// Recognizes archives by the names of their first files.
  private static func zip(_ bytes: [UInt8]) -> FileProblem.Found {
    let data = Data(bytes)
    if data.holds("Payload/") || data.holds("AndroidManifest.xml") { return .app }
    return data.holds("word/") || data.holds("[Content_Types].xml") || data.holds("mimetypeapplication/vnd.oasis")
      || data.holds("Index/")
      ? .wordDocument : .archive
  }

  /// Invalid UTF-8 has been replaced by U+FFFD.
  private static func isReadAsText(_ bytes: [UInt8]) -> Bool { Data(bytes).count(of: [0xEF, 0xBF, 0xBD]) >= 3 }

  /// Recognizes a text without PEM, JSON and Base64.
  init(_ text: FileText) {
    let head = text.head
    let lower = head.lowercased()
    // Foundation's string search is locale-aware, and a hundred times slower than searching bytes.
    let (plain, small) = (Data(head.utf8), Data(lower.utf8))
    if let known = Self.beginnings.first(where: { text.bytes.starts(with: $0.0) }) {
      self = known.1
    } else if Self.isReadAsText(Array(text.bytes.prefix(4096))) {
      self = .readAsText
    } else if lower.hasPrefix("<!doctype html") || lower.hasPrefix("<html") || small.holds("<head>") {
      self = .webPage
    } else if head.hasPrefix("{length") || plain.holds("bytes = 0x") {
      self = .lossyToken
    } else if head.hasPrefix("<?xml") || head.hasPrefix("<plist") {
      self =
        small.holds("payloadtype")
        ? .configurationProfile : plain.holds("GOOGLE_APP_ID") ? .googleInfo : .propertyList
    } else if head.hasPrefix("ssh-") || head.hasPrefix("ecdsa-sha2-") || head.hasPrefix("PuTTY-User-Key-File") {
      self = .sshKey
    } else if plain.holds("BEGIN CERTIFICATE") || plain.holds("PRIVATE KEY") {
      self = .brokenFrame
    } else if lower.hasPrefix("from:") || lower.hasPrefix("received:") || small.holds("\nmime-version:") {
      self = .mail
    } else if head.hasPrefix("AIza") && head.utf8.count == 39 || head.hasPrefix("AAAA") && plain.holds(":APA91") {
      self = .serverKey
    } else if head.utf8.count <= 250, let token = try? DeviceToken(parsing: head, platform: .ios),
      token.bytes.count >= 32
    {
      self = .deviceToken
    } else {
      self = .text
    }
  }
}
