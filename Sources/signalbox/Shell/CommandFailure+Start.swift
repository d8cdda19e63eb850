import Glibc
import Reactor
import Text

extension CommandFailure {
  /// Fewer open files are not enough for a server without clients.
  static let fewestOpenFiles = 64

  /// The process may open too few files to start a server.
  static func fewOpenFiles(_ limit: Int) -> CommandFailure {
    CommandFailure(
      """
      This process may have only \(limit) open files, and the server needs at least \(fewestOpenFiles). Raise the \
      limit to 1024 or more: ulimit -n 1024, or LimitNOFILE=1024 in the systemd unit.
      """)
  }

  /// Why a server did not start, with what to do about it.
  ///
  /// - Parameters:
  ///   - error: what a call of the system answered.
  ///   - otherAddress: the message if the address is taken or forbidden: a different one helps only then.
  static func start(_ error: SystemError, otherAddress: Message) -> CommandFailure {
    let isAddress = ["bind ", "listen ", "socket"].contains { error.call.hasPrefix($0) }
    return switch error.number {
    case EMFILE:
      CommandFailure(
        """
        \(error). Raise this process's limit of open files to 1024 or more: ulimit -n 1024, or LimitNOFILE=1024 in the \
        systemd unit.
        """)
    case ENFILE: CommandFailure("\(error). The whole system has too many open files: raise fs.file-max with sysctl.")
    case _ where isAddress: CommandFailure(otherAddress)
    case EACCES, EPERM, EROFS:
      CommandFailure("\(error). Check that this user can write to the data folder, or choose another one with --data.")
    default: CommandFailure("\(error)")
    }
  }
}
