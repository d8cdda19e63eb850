import Glibc

/// Writes to files, pipes and terminals, on threads that may wait.
package enum WaitingWriter {
  /// Writes all bytes to a descriptor, be it blocking or not.
  ///
  /// - Returns: how many were written, and why not all.
  package static func write(_ bytes: [UInt8], to descriptor: Int32) -> (count: Int, failure: SystemError?) {
    var start = 0
    while start < bytes.count {
      let written = bytes[start...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written > 0 {
        start += written
      } else if errno == EAGAIN {
        // Another program made it non-blocking: a terminal is shared by all its programs.
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&room, 1, -1)
      } else if errno != EINTR {
        return (start, SystemError("write"))
      }
    }
    return (start, nil)
  }
}
