import Glibc

/// Why the file with the sealing key is not used.
package enum SealingKeyFileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Others than its owner may read or change it.
  case readableByOthers(path: String, mode: UInt32)
  /// It does not hold 32 bytes in Base64.
  case damaged(path: String)
  /// It is a folder or a device.
  case notAFile(path: String)
  /// The system refuses.
  case system(path: String, call: String, number: Int32)

  /// What is wrong, and what to do.
  package var description: String {
    switch self {
    case .readableByOthers(let path, let mode):
      "\(path) is readable by other users (mode \(String(mode, radix: 8))), and it decrypts every stored credential. "
        + "Run: chmod 600 \(path)"
    case .damaged(let path):
      "\(path) contains no key (expected 32 bytes in Base64). Restore the key from a backup. "
        + "Without it, the stored credentials cannot be decrypted and must be uploaded again."
    case .notAFile(let path): "\(path) is not a file. Move it away or choose another data folder."
    case .system(let path, let call, let number):
      "\(path): \(call): \(Self.words(number)). Check the folder and its owner."
    }
  }

  private static func words(_ number: Int32) -> String {
    var text = [CChar](repeating: 0, count: 256)
    guard strerror_r(number, &text, text.count) == 0 else { return "error \(number)" }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
