import Certificates
import Foundation
import Glibc
import Text

/// Reads a file named on the command line, which may be anything: a folder, a pipe, an endless device.
enum CertificateFileReader {
  /// How long to wait for a pipe that sends nothing, in milliseconds.
  static let patience: Int32 = 10_000

  /// Reads the bytes of a file.
  ///
  /// - Parameter patience: how long to wait for a pipe that sends nothing, in milliseconds.
  /// - Throws: ``CommandFailure`` without the path; `FileProblem` for a file that is too large.
  static func data(_ path: String, patience: Int32 = patience) throws -> Data {
    // Without O_NONBLOCK, open would wait for a writer of a pipe.
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw CommandFailure("\(NamedFile.words(errno)).") }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0 else { throw CommandFailure("\(NamedFile.words(errno)).") }
    switch facts.st_mode & S_IFMT {
    case S_IFDIR: throw CommandFailure("This is a folder. Choose a file in it.")
    case S_IFREG where facts.st_size > CertificateFile.maximumBytes:
      throw FileProblem.tooLarge(bytes: Int(facts.st_size))
    default: return try rest(descriptor, patience: patience)
    }
  }

  private static func rest(_ descriptor: Int32, patience: Int32) throws -> Data {
    var data = Data()
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      var place = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&place, 1, patience)
      if ready < 0, errno == EINTR { continue }
      guard ready != 0 else {
        throw CommandFailure(
          "This is a pipe that delivered no data for \(max(1, patience / 1000)) s. Pass the file itself.")
      }
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count >= 0 else { throw CommandFailure("\(NamedFile.words(errno)).") }
      if count == 0 { return data }
      data.append(contentsOf: chunk[..<count])
      guard data.count <= CertificateFile.maximumBytes else { throw FileProblem.tooLarge(bytes: nil) }
    }
  }
}
