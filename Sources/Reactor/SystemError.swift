import CEpoll
import Glibc

/// A failed system call: its name and the error number.
package struct SystemError: Error, Equatable, CustomStringConvertible, Sendable {
  /// The call, as named in its manual page.
  package let call: String
  /// `errno` right after the call.
  package let number: Int32

  /// Uses the current `errno`.
  package init(_ call: String) { self.init(call, number: errno) }

  /// For error numbers that do not come from `errno`.
  package init(_ call: String, number: Int32) {
    self.call = call
    self.number = number
  }

  /// As `bind: Address already in use`.
  package var description: String {
    var text = [CChar](repeating: 0, count: 256)
    guard strerror_r(number, &text, text.count) == 0 else { return "\(call): error \(number)" }
    return "\(call): \(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))"
  }
}

/// The process's limit of open descriptors.
package enum DescriptorLimit {
  /// Raises the soft limit towards `wanted`, as far as the hard limit allows; never lowers it.
  ///
  /// - Returns: the resulting limit.
  package static func raise(to wanted: Int) -> Int {
    var limit = rlimit()
    guard getrlimit(kind, &limit) == 0 else { return wanted }
    if limit.rlim_cur < rlim_t(wanted) {
      var raised = limit
      raised.rlim_cur = min(rlim_t(wanted), limit.rlim_max)
      if setrlimit(kind, &raised) == 0 { limit = raised }
    }
    return Int(clamping: limit.rlim_cur)
  }

  private static let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
}

/// The heap of the C library.
package enum Heap {
  /// Limits the arenas into which it is divided; before any thread is started. By default there are eight for each core,
  /// and each keeps what its threads once needed: a server on two cores held twice the memory that it used.
  package static func limitArenas(to count: Int32) { mallopt(M_ARENA_MAX, count) }
}

extension SystemError {
  /// Whether the process or the machine has no descriptors left.
  package var isOutOfDescriptors: Bool { number == EMFILE || number == ENFILE }
}
