package import Foundation
import OpenSSL
import Model
import Text

/// Finds out what a file is: by its content, never by its name's ending.
package enum CertificateFile {
  /// Larger files are refused before they are looked at. Real ones have some thousand bytes; a provisioning
  /// profile with many devices some hundred thousand.
  package static let maximumBytes = 1 << 20

  /// Finds out what a file is.
  ///
  /// Computes for up to some seconds with encrypted files, so it belongs on a thread that may block.
  ///
  /// - Parameters:
  ///   - fileName: tells the key id of a `.p8`, and that a key was meant for APNs; nothing else is taken from it.
  ///   - password: for encrypted files; those that are not encrypted open with any.
  ///   - take: of several certificates the one with this serial number or fingerprint, or a beginning of it.
  /// - Throws: ``FileProblem``.
  package static func inspect(
    data: Data, fileName: String? = nil, password: String? = nil, take: String? = nil
  ) throws(FileProblem) -> InspectedFile {
    guard !data.isEmpty else { throw .empty }
    guard data.count <= maximumBytes else { throw .tooLarge(bytes: data.count) }
    let inspection = FileInspection(fileName: fileName, password: password, take: take)
    do {
      return try inspection.any(Data(data))
    } catch .wrongPassword {
      // A blank or a line break came along when it was copied; only then is it worth the work to look again.
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
  /// Without blanks and line breaks at its ends; nil if there are none.
  fileprivate var trimmedAtEnds: String? {
    let trimmed = trimmingCharacters(in: .whitespacesAndNewlines)
    return trimmed == self ? nil : trimmed
  }
}

extension FileInspection {
  /// Binary or text: a text may come in UTF-16, with a byte order mark, or as the Base64 of the file proper.
  func any(_ data: Data, isDecoded: Bool = false) throws(FileProblem) -> InspectedFile {
    guard let text = FileText(data) else {
      // SEQUENCE: everything in binary form begins with it.
      if data.first == 0x30 { return try binary(data) }
      throw .notACertificateFile(FileProblem.Found(lookingAt: Array(data.prefix(4096))))
    }
    // A document may show a certificate; what it holds is dressed up with its own marks.
    if text.bytes.starts(with: Data("{\\rtf".utf8)) { throw .notACertificateFile(.wordDocument) }
    if text.bytes.holds("-----BEGIN PGP ") { throw .notACertificateFile(.pgpKey) }
    // A service account holds its key in PEM.
    if let file = try json(text) { return file }
    if text.bytes.holds("-----BEGIN ") { return try pem(text) }
    if let file = try keyPair(text) { return file }
    if !isDecoded, let decoded = text.base64 { return try any(decoded, isDecoded: true) }
    throw .notACertificateFile(FileProblem.Found(text))
  }
}
