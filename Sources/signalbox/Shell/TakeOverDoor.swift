import Foundation
import Glibc
import Reactor
import Text

/// How `signalbox take-over` reaches the standby of a data folder, on the same machine and as the same user or root.
///
/// A Unix socket in the abstract namespace, named after the folder's device and inode. To connect is to ask; the answer
/// is lines of text, the last of which begins with ``done`` or ``failed``.
final class TakeOverDoor: Sendable {
  static let done = "done: "
  static let failed = "failed: "

  /// Somebody who asked, and waits.
  struct Caller: Sendable {
    fileprivate let descriptor: Int32
    /// The system's user who asked.
    let user: uid_t

    /// Shows how far it is.
    func tell(_ line: String) {
      let bytes = Array((line + "\n").utf8)
      // Who asked may be gone; the take-over goes on.
      _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Tells the result, and ends the connection.
    func finish(_ result: Result<String, any Error>) {
      switch result {
      case .success(let text): tell(TakeOverDoor.done + text)
      case .failure(let error): tell(TakeOverDoor.failed + "\(error)")
      }
      close(descriptor)
    }
  }

  /// What a caller is told for whom nothing is done any more.
  static let late = CommandFailure("The standby has taken over for another caller, or is stopping.")

  let callers: AsyncStream<Caller>
  private let descriptor: Int32

  /// Opens the door of a folder.
  ///
  /// - Throws: ``CommandFailure`` if another standby has it.
  init(of directory: DataDirectory) throws {
    let address = try Self.address(of: directory)
    let descriptor = try Self.socket()
    self.descriptor = descriptor
    guard address.with({ bind(descriptor, $0, $1) }) == 0, listen(descriptor, 4) == 0 else {
      close(descriptor)
      throw CommandFailure("Another standby uses \(directory.path). Stop it, or choose another folder with --data.")
    }
    let (callers, continuation) = AsyncStream.makeStream(of: Caller.self)
    self.callers = callers
    // A thread, because it waits.
    Thread.detachNewThread {
      while true {
        let accepted = accept(descriptor, nil, nil)
        guard accepted >= 0 else {
          if errno == EINVAL { break }  // the door was shut
          // Whoever called is gone, or there are too many open files: the next one may be let in.
          if errno != EINTR, errno != ECONNABORTED { Thread.sleep(forTimeInterval: 0.1) }
          continue
        }
        guard let user = Self.user(of: accepted), user == 0 || user == geteuid() else {
          close(accepted)
          continue
        }
        let caller = Caller(descriptor: accepted, user: user)
        if case .terminated = continuation.yield(caller) { caller.finish(.failure(Self.late)) }
      }
      continuation.finish()
      close(descriptor)
    }
  }

  /// Closes the door, and tells those who still wait.
  func shut() async {
    shutdown(descriptor, Int32(SHUT_RDWR))
    for await caller in callers { caller.finish(.failure(Self.late)) }
  }

  /// Asks the standby of a folder, and passes on the lines of its answer.
  ///
  /// - Throws: ``CommandFailure`` if there is no standby, or it failed.
  static func ask(_ directory: DataDirectory, _ tell: (String) -> Void) throws {
    let descriptor = try socket()
    defer { close(descriptor) }
    guard try address(of: directory).with({ connect(descriptor, $0, $1) }) == 0 else {
      throw CommandFailure("No standby is running in \(directory.path). Start one with signalbox serve --standby URL.")
    }
    var rest: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      rest += buffer.prefix(count)
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: rest[..<end], as: UTF8.self)
        rest.removeSubrange(...end)
        if line.hasPrefix(failed) { throw CommandFailure("\(EnglishSentence(String(line.dropFirst(failed.count))))") }
        if line.hasPrefix(done) { return tell(String(line.dropFirst(done.count))) }
        tell(line)
      }
    }
    throw CommandFailure("The standby ended before it took over; see its log.")
  }

  private static func socket() throws -> Int32 {
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError("socket") }
    return descriptor
  }

  private static func address(of directory: DataDirectory) throws -> UnixAddress {
    var folder = stat()
    guard stat(directory.path, &folder) == 0 else { throw CommandFailure("\(directory.path) not found.") }
    guard let address = UnixAddress("@signalbox-standby-\(folder.st_dev)-\(folder.st_ino)") else {
      preconditionFailure("two numbers fit into a socket's name")
    }
    return address
  }

  /// Whose process is at the other end (`SO_PEERCRED`, unix(7)).
  private static func user(of caller: Int32) -> uid_t? {
    var peer = (process: Int32(0), user: UInt32.max, group: UInt32.max)
    var size = socklen_t(12)
    return getsockopt(caller, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.user : nil
  }
}
