import Foundation
import Glibc

extension SealingKey {
  /// Reads the key's file, or makes it with a new key, for its owner only (0600).
  ///
  /// The file appears whole or not at all; of two programs that start at the same time one makes it.
  ///
  /// - Throws: ``SealingKeyFileError``.
  package static func loadOrCreate(path: String) throws(SealingKeyFileError) -> SealingKey {
    if let key = try load(path: path) { return key }
    try SealingKey().write(path: path)
    guard let key = try load(path: path) else { throw .system(path: path, call: "open", number: ENOENT) }
    return key
  }

  /// Reads the key's file, nil if there is none.
  ///
  /// - Throws: ``SealingKeyFileError``.
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
    guard let bytes = Base64URL.decode(line), let key = SealingKey(bytes: bytes) else {
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
    // link(2) does not replace: if another program was first, its key stands.
    guard link(temporary, path) == 0 || errno == EEXIST else { throw .system(path: path, call: "link", number: errno) }
    let folder = Glibc.open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }
}
