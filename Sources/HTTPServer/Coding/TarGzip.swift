package import Foundation

/// An archive of small files: tar (POSIX.1-1988, "ustar") in gzip (RFC 1952).
package enum TarGzip {
  private static let block = 512

  /// - Parameters:
  ///   - files: names of up to 100 bytes, and contents.
  ///   - at: the time of every file.
  /// - Returns: nil if there is no memory.
  package static func archive(_ files: [(name: String, bytes: [UInt8])], at: Date) -> [UInt8]? {
    var tar: [UInt8] = []
    for file in files {
      tar += header(file.name, file.bytes.count, at)
      tar += file.bytes
      tar += [UInt8](repeating: 0, count: (block - file.bytes.count % block) % block)
    }
    // Two empty blocks are the end.
    tar += [UInt8](repeating: 0, count: 2 * block)
    return GzipEncoder.compress(tar, level: GzipEncoder.best)
  }

  private static func header(_ name: String, _ size: Int, _ at: Date) -> [UInt8] {
    var header = [UInt8](repeating: 0, count: block)
    func put(_ text: String, at offset: Int) {
      for (index, byte) in text.utf8.prefix(100).enumerated() { header[offset + index] = byte }
    }
    func octal(_ number: Int, digits: Int) -> String {
      let text = String(number, radix: 8)
      return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
    put(name, at: 0)
    put("0000600", at: 100)
    put("0000000", at: 108)
    put("0000000", at: 116)
    put(octal(size, digits: 11), at: 124)
    put(octal(Int(at.timeIntervalSince1970), digits: 11), at: 136)
    // The sum is made with blanks in its own place.
    put("        ", at: 148)
    put("0", at: 156)
    put("ustar", at: 257)
    put("00", at: 263)
    put(octal(header.reduce(0) { $0 + Int($1) }, digits: 6) + "\0 ", at: 148)
    return header
  }
}
