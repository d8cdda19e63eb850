import Foundation
import Glibc
import Reactor
import Text

/// The service manager that started the program. It may pass a listening socket, and may want to hear how the program
/// is.
///
/// Both protocols are stable and made to be spoken without systemd's library: sd_listen_fds(3), sd_notify(3).
struct ServiceManager: Sendable {
  /// Where descriptors begin that were passed (`SD_LISTEN_FDS_START`).
  private static let firstDescriptor: Int32 = 3

  /// The listening socket that was passed; nil: the program opens its own.
  let listener: Int32?
  /// The silence after which the program is taken for hung and killed; nil: never.
  let watchdog: Duration?
  private let socket: String?

  /// - Throws: `CommandFailure` unless exactly one socket was passed, if any.
  init(_ environment: [String: String], processID: pid_t = getpid()) throws {
    // An empty one counts as missing, as at sd_notify.
    socket = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
    let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(processID)" } ?? true
    watchdog = environment["WATCHDOG_USEC"].flatMap(Int.init).flatMap { isMeant && $0 > 0 ? .microseconds($0) : nil }
    let isListener = environment["LISTEN_PID"] == "\(processID)"
    let count = isListener ? environment["LISTEN_FDS"].flatMap(Int.init) ?? 0 : 0
    guard count <= 1 else {
      throw CommandFailure("The service manager passed \(count) sockets; Signalbox serves one. Correct the unit.")
    }
    listener = count == 1 ? Self.firstDescriptor : nil
  }

  /// Says that it has started.
  func isReady(_ status: String) { tell("READY=1", "STATUS=\(status)") }

  func isReloading() {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    tell("RELOADING=1", "MONOTONIC_USEC=\(time.tv_sec * 1_000_000 + time.tv_nsec / 1000)")
  }

  func isStopping() { tell("STOPPING=1", "STATUS=Finishing what is under way") }

  /// Says that the program works, as long as `turn` returns and until its task is cancelled.
  ///
  /// - Parameter turn: returns after every part that could hang has done something.
  func watch(_ turn: @Sendable () async -> Void) async {
    guard let watchdog else { return }
    while !Task.isCancelled {
      await turn()
      tell("WATCHDOG=1")
      // Half of the time, as sd_watchdog_enabled(3) advises.
      try? await Task.sleep(for: watchdog / 2)
    }
  }

  /// A manager that does not listen is no reason to stop serving: nothing is reported.
  private func tell(_ lines: String...) {
    guard let socket else { return }
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let text = Array(lines.joined(separator: "\n").utf8)
    UnixAddress(socket)?.with { address, size in
      _ = sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), address, size)
    }
  }
}

/// The address of a Unix socket: a path, or `@` and a name in the abstract namespace, which leaves no file behind
/// (unix(7)).
struct UnixAddress {
  private var storage = sockaddr_un()
  private let size: socklen_t

  /// Nil: the name is too long.
  init?(_ name: String) {
    storage.sun_family = sa_family_t(AF_UNIX)
    let isAbstract = name.hasPrefix("@")
    let path = isAbstract ? [0] + Array(name.utf8.dropFirst()) : Array(name.utf8)
    guard path.count < MemoryLayout.size(ofValue: storage.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &storage.sun_path) { $0.copyBytes(from: path) }
    // An abstract name ends with its last byte, a path with a NUL.
    size = socklen_t(MemoryLayout<sa_family_t>.size + path.count + (isAbstract ? 0 : 1))
  }

  func with<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withUnsafePointer(to: storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
    }
  }
}
