public import Foundation
import Push

/// Finds out what a file is: by its content, never by its name's ending.
public enum CertificateFile {
  /// Larger files are refused before they are looked at. Real ones have some thousand bytes; a provisioning
  /// profile with many devices some hundred thousand.
  public static let maximumBytes = 1 << 20

  /// Finds out what a file is.
  ///
  /// Computes for up to some seconds with encrypted files, so it belongs on a thread that may block.
  ///
  /// - Parameters:
  ///   - fileName: tells the key id of a `.p8`; nothing else is taken from it.
  ///   - password: for encrypted files; those that are not encrypted open with any.
  /// - Throws: ``FileProblem``.
  public static func inspect(
    data: Data, fileName: String? = nil, password: String? = nil
  ) throws(FileProblem) -> InspectedFile {
    guard !data.isEmpty else { throw .empty }
    guard data.count <= maximumBytes else { throw .tooLarge(bytes: data.count) }
    let inspection = FileInspection(fileName: fileName, password: password)
    // SEQUENCE: everything in binary form begins with it.
    if data.first == 0x30 { return try inspection.binary(data) }
    if data.firstRange(of: Data("-----BEGIN ".utf8)) != nil { return try inspection.pem(data) }
    if let decoded = bareBase64(data) { return try inspection.binary(decoded) }
    throw .notACertificateFile(FileProblem.Found(lookingAt: Array(data)))
  }

  /// What some tools save: the Base64 of a file without the lines around it. All binary forms begin with `MI`.
  private static func bareBase64(_ data: Data) -> Data? {
    guard data.starts(with: Data("MI".utf8)) else { return nil }
    guard let decoded = Data(base64Encoded: data.filter { !" \t\r\n".utf8.contains($0) }) else { return nil }
    return decoded.first == 0x30 ? decoded : nil
  }
}
