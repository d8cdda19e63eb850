internal import Foundation
internal import Glibc
internal import OpenSSL
internal import Reactor

/// Passwords that became known through breaches, as Have I Been Pwned publishes them: a text file with a line
/// `SHA-1:COUNT` for each, in the order of the hashes. Its 40 GB stay on disk: a look takes some forty short reads. No
/// password leaves this machine.
package struct BreachedPasswords: Sendable {
  /// Why a file cannot be used as a list of breached passwords.
  package struct Unusable: Error, CustomStringConvertible {
    package let description: String
  }

  /// How many places of the file are looked at when the console starts.
  private static let samples = 64

  private let path: String

  /// Looks at lines in several places of the file.
  ///
  /// - Throws: ``Unusable``, which names the place, or `SystemError`.
  package init(path: String) throws {
    self.path = path
    let file = try OpenFile(path)
    defer { file.close() }
    var last: (start: Int, hash: [UInt8])?
    for number in 0..<Self.samples {
      let start = try file.line(from: file.size / Self.samples * number)
      guard start < file.size, start != last?.start else { continue }
      let hash = try file.hash(at: start)
      if let last, !last.hash.lexicographicallyPrecedes(hash) {
        throw Unusable(
          description:
            "\(path), byte \(start): the lines are not in the order of their hashes. Use the list ordered by "
            + "hash, or sort it.")
      }
      last = (start, hash)
    }
    guard last != nil else { throw Unusable(description: "\(path) is empty.") }
  }

  /// Whether the password is in the list. Blocks.
  ///
  /// - Throws: ``Unusable`` or `SystemError`.
  package func contains(_ password: String) throws -> Bool {
    let wanted = Digest.sha1(Array(password.utf8))
    let file = try OpenFile(path)
    defer { file.close() }
    // Its line, if there is one, begins in this range; the range begins with a line.
    var (low, high) = (0, file.size)
    while low < high {
      let middle = low + (high - low) / 2
      let start = middle == low ? low : try file.line(from: middle)
      guard start < high else {
        high = middle
        continue
      }
      let hash = try file.hash(at: start)
      if hash == wanted { return true }
      if hash.lexicographicallyPrecedes(wanted) { low = try file.line(from: start + 1) } else { high = middle }
    }
    return false
  }

  /// The file while it is open: another one may take its place between two looks.
  private struct OpenFile {
    /// Two digits for each byte of a SHA-1.
    private static let digits = 40
    /// A line has at most this many bytes, with its end.
    private static let longestLine = 64

    let size: Int
    private let path: String
    private let descriptor: Int32

    init(_ path: String) throws {
      self.path = path
      descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw SystemError("open \(path)") }
      var status = stat()
      guard fstat(descriptor, &status) == 0 else {
        let error = SystemError("fstat \(path)")
        _ = Glibc.close(descriptor)
        throw error
      }
      size = Int(status.st_size)
    }

    func close() { _ = Glibc.close(descriptor) }

    /// Where the first line begins that does not begin before `offset`; the size: there is none.
    func line(from offset: Int) throws -> Int {
      guard offset > 0 else { return 0 }
      let bytes = try read(at: offset - 1)
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return offset + end }
      guard offset - 1 + bytes.count >= size else { throw notALine(offset) }
      return size
    }

    /// The 20 bytes at the beginning of a line.
    func hash(at start: Int) throws -> [UInt8] {
      let line = try read(at: start)
      guard line.count >= Self.digits, line.count == Self.digits || [0x3A, 0x0D, 0x0A].contains(line[Self.digits])
      else { throw notALine(start) }
      return try stride(from: 0, to: Self.digits, by: 2).map { place in
        guard let high = Self.digit(line[place]), let low = Self.digit(line[place + 1]) else { throw notALine(start) }
        return high << 4 | low
      }
    }

    private func read(at offset: Int) throws -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: Self.longestLine)
      let count = pread(descriptor, &bytes, bytes.count, off_t(offset))
      guard count >= 0 else { throw SystemError("read \(path)") }
      return Array(bytes.prefix(count))
    }

    private func notALine(_ offset: Int) -> Unusable {
      Unusable(description: "\(path), byte \(offset): expected lines of a SHA-1 and a count, as 5BAA61E4C9…:1234.")
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
      case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
      case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
      default: nil
      }
    }
  }
}
