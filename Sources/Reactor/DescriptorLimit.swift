import CEpoll
import Glibc

/// How many descriptors this process may have open at once.
package enum DescriptorLimit {
  /// Raises the soft limit towards `wanted`, as far as the hard limit lets it; never lowers it.
  ///
  /// - Returns: what holds now.
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

extension SystemError {
  /// Whether a descriptor was asked for and the process, or the machine, has none left.
  package var isOutOfDescriptors: Bool { number == EMFILE || number == ENFILE }
}
