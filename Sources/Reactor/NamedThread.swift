import CEpoll
import Foundation
import Glibc

extension Thread {
  /// Starts a thread that the system knows by its name too, as `top -H` and `perf` show it: at most 15 bytes of it
  /// (pthread_setname_np(3)).
  static func start(_ name: String, niceness: Int32 = 0, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread {
      // Foundation tells the system only of threads that it has finished starting.
      pthread_setname_np(pthread_self(), String(decoding: name.utf8.prefix(15), as: UTF8.self))
      // On Linux this is of the thread, not of the process ("C library/kernel differences", setpriority(2)). That it is
      // refused cannot be: everybody may stand back.
      if niceness > 0 { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) }
      body()
    }
    thread.stackSize = 1 << 20
    thread.start()
  }
}
