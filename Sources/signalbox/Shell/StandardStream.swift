import Glibc
import Reactor
import Synchronization

/// Standard output could not be written.
struct OutputFailure: Error, CustomStringConvertible {
  let cause: SystemError

  var description: String { "standard output cannot be written: \(cause)" }
}

/// Standard output or standard error. A stream that cannot be written ends nothing: that is noted, and told at the end.
final class StandardStream: Sendable {
  static let output = StandardStream(STDOUT_FILENO)
  static let error = StandardStream(STDERR_FILENO)

  private let descriptor: Int32
  private let broken = Mutex<OutputFailure?>(nil)

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Why something could not be written; nil as long as all was.
  var failure: OutputFailure? { broken.withLock { $0 } }

  /// Writes a text; after a first failure nothing more, so that no text arrives with a gap in it.
  func write(_ text: String) {
    broken.withLock { broken in
      guard broken == nil else { return }
      broken = WaitingWriter.write(Array(text.utf8), to: descriptor).failure.map(OutputFailure.init(cause:))
    }
  }

  /// The next bytes of standard input, at most so many; none at its end.
  static func read(_ count: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    while true {
      let got = Glibc.read(STDIN_FILENO, &bytes, count)
      if got >= 0 { return Array(bytes[..<got]) }
      if errno == EAGAIN {
        var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        poll(&waiting, 1, -1)
      } else if errno != EINTR {
        throw SystemError("read")
      }
    }
  }

  /// Takes the place of standard streams that were closed, so that no database or connection gets their numbers, and
  /// with them what is printed. Reading and writing there fails as before.
  static func occupyClosed() {
    for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest number that is free: this one.
      _ = open("/dev/null", mode)
    }
  }
}
