package import Foundation
import OpenSSL
import Model
import Providers
import Text

extension CertificateFile {
  /// Larger files are refused unread. Real ones have a few thousand bytes; a provisioning profile with many devices a
  /// few hundred thousand.
  package static let maximumBytes = 1 << 20

  /// Reads a file. Its kind is determined by its content, never by its extension.
  ///
  /// Encrypted files can take seconds: call on a thread that may block.
  ///
  /// - Parameters:
  ///   - fileName: supplies the key ID of a `.p8`, and shows that a key is meant for APNs; not used otherwise.
  ///   - password: for encrypted files; ignored for others.
  ///   - take: selects one of several certificates by serial number or fingerprint, or by a prefix of it.
  package static func inspect(
    data: Data, fileName: String? = nil, password: String? = nil, take: String? = nil
  ) throws(FileProblem) -> CertificateFile {
    guard !data.isEmpty else { throw .empty }
    guard data.count <= maximumBytes else { throw .tooLarge(bytes: data.count) }
    let inspection = FileInspection(fileName: fileName, password: password, take: take)
    do {
      return try inspection.any(Data(data))
    } catch .wrongPassword {
      // Blanks or line breaks may have been copied with the password. Tried only after a failure: it doubles the work.
      if let password, let trimmed = password.trimmedAtEnds,
        (try? FileInspection(fileName: fileName, password: trimmed, take: take).any(Data(data))) != nil
      {
        throw .passwordHasBlanks
      }
      throw .wrongPassword
    }
  }
}

extension String {
  /// Trimmed; nil if there is nothing to trim.
  fileprivate var trimmedAtEnds: String? {
    let trimmed = trimmingCharacters(in: .whitespacesAndNewlines)
    return trimmed == self ? nil : trimmed
  }
}

extension FileInspection {
  /// How often a file can be wrapped in another text.
  private static let maximumLayers = 4

  /// Binary or text. Text can be UTF-16, have a byte order mark, or have the real file within it.
  ///
  /// - Parameter layer: how many texts were around it.
  func any(_ data: Data, layer: Int = 0) throws(FileProblem) -> CertificateFile {
    guard let text = FileText(data) else {
      // Every binary format begins with a SEQUENCE.
      if data.first == 0x30 { return try binary(data) }
      throw .notACertificateFile(FileProblem.Found(lookingAt: Array(data.prefix(4096))))
    }
    // An RTF document can contain a pasted certificate, but with formatting codes in between.
    if text.bytes.starts(with: Data("{\\rtf".utf8)) { throw .notACertificateFile(.wordDocument) }
    if text.bytes.holds("-----BEGIN PGP ") { throw .notACertificateFile(.pgpKey) }
    if layer < Self.maximumLayers, let inner = text.unwrapped { return try any(inner, layer: layer + 1) }
    // Before PEM: a service account's JSON contains its key in PEM.
    if let file = try json(text, layer: layer) { return file }
    if text.bytes.holds("-----BEGIN ") { return try pem(text) }
    if let file = try keyPair(text) { return file }
    throw .notACertificateFile(FileProblem.Found(text))
  }
}
