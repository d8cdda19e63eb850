import Foundation
import Glibc

extension SealingKey {
  /// Reads the key file, or creates it with a new key and mode 0600.
  ///
  /// The file appears atomically; if two programs start at the same time, one creates it.
  package static func loadOrCreate(path: String) throws(SealingKeyFileError) -> SealingKey {
    if let key = try load(path: path) { return key }
    try SealingKey().write(path: path)
    guard let key = try load(path: path) else { throw .system(path: path, call: "open", number: ENOENT) }
    return key
  }

  /// Reads the key file, nil if there is none.
  package static func load(path: String) throws(SealingKeyFileError) -> SealingKey? {
    let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw .system(path: path, call: "open", number: errno)
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .system(path: path, call: "fstat", number: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
    guard status.st_mode & 0o077 == 0 else { throw .readableByOthers(path: path, mode: status.st_mode & 0o777) }
    var text = [UInt8](repeating: 0, count: 256)
    let count = Glibc.read(file, &text, text.count)
    guard count >= 0 else { throw .system(path: path, call: "read", number: errno) }
    let line = String(decoding: text.prefix(count), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    // Ours is URL-safe and unpadded; `head -c 32 /dev/urandom | base64` writes the standard form.
    guard let bytes = Base64URL.decode(line) ?? Data(base64Encoded: line).map(Array.init),
      let key = SealingKey(bytes: bytes)
    else {
      throw .damaged(path: path)
    }
    return key
  }

  private func write(path: String) throws(SealingKeyFileError) {
    let temporary = "\(path).\(Random.token(bytes: 6))"
    let file = Glibc.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .system(path: path, call: "open", number: errno) }
    defer { unlink(temporary) }
    defer { close(file) }
    let line = Array((Base64URL.encode(bytes) + "\n").utf8)
    guard Glibc.write(file, line, line.count) == line.count, fsync(file) == 0 else {
      throw .system(path: path, call: "write", number: errno)
    }
    // link(2) does not replace: if another program was first, its key is used.
    guard link(temporary, path) == 0 || errno == EEXIST else { throw .system(path: path, call: "link", number: errno) }
    let folder = Glibc.open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }
}

/// Why the sealing key's file cannot be used.
package enum SealingKeyFileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Others than its owner may read or change it.
  case readableByOthers(path: String, mode: UInt32)
  /// Not 32 bytes in Base64.
  case damaged(path: String)
  /// A folder or a device.
  case notAFile(path: String)
  /// A system call failed.
  case system(path: String, call: String, number: Int32)

  package var description: String {
    switch self {
    case .readableByOthers(let path, let mode):
      "\(path) can be read by other users (mode \(String(mode, radix: 8))), and it decrypts every stored credential. "
        + "Run: chmod 600 \(path)"
    case .damaged(let path):
      "\(path) is malformed (expected 32 bytes in Base64). Copy the right file back; backups do not "
        + "contain it. Without it, the stored credentials cannot be decrypted and must be uploaded again."
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
