import Glibc
import Reactor
import Synchronization

struct OutputFailure: Error, CustomStringConvertible {
  let cause: SystemError

  var description: String { "standard output cannot be written: \(cause)" }
}

/// Standard output or standard error. A failed write does not end the command: the error is kept and reported at the
/// end.
final class StandardStream: Sendable {
  static let output = StandardStream(STDOUT_FILENO)
  static let error = StandardStream(STDERR_FILENO)

  private let descriptor: Int32
  private let broken = Mutex<OutputFailure?>(nil)
  private let isForgiven = Atomic(false)

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// The first error; nil if all writes succeeded, or if it does not matter.
  var failure: OutputFailure? { isForgiven.load(ordering: .relaxed) ? nil : broken.withLock { $0 } }

  /// For a command whose work is not its output.
  func forgive() { isForgiven.store(true, ordering: .relaxed) }

  /// Writes nothing after the first failure, so that the output has no gaps.
  func write(_ text: String) {
    broken.withLock { broken in
      guard broken == nil else { return }
      broken = WaitingWriter.write(Array(text.utf8), to: descriptor).failure.map(OutputFailure.init(cause:))
    }
  }

  /// Reads at most `count` bytes of standard input; empty at its end.
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

  /// Opens /dev/null in place of closed standard streams. Otherwise a database or connection could get the number of
  /// standard output, and printed text would be written to it.
  static func occupyClosed() {
    for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    where fcntl(descriptor, F_GETFD) < 0 {
      // open() returns the lowest free number, which is the closed stream's.
      _ = open("/dev/null", mode)
    }
  }
}
