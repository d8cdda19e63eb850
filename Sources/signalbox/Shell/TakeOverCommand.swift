import Arguments
import Text

/// `signalbox take-over`
enum TakeOverCommand {
  private static let isStopped = Flag(
    "previous-is-stopped", "Confirms that the previous server no longer runs. Two servers would send every push twice.")

  static let command = Command<Action>(
    "take-over", "Make a standby the server.",
    discussion: """
      Asks the signalbox serve --standby of the same data folder to copy what is left in the replica, and to start \
      serving. Pushes that were running continue; devices whose result had not reached the replica are sent to again.
      """,
    parameters: [CommonOptions.data.parameter, isStopped.parameter]
  ) { values, io in
    guard values[isStopped] else {
      throw CommandFailure.usage(
        """
        Stop the previous server first, then confirm with --previous-is-stopped: two servers would send every push \
        twice.
        """)
    }
    try TakeOverDoor.ask(DataDirectory(values, io)) { io.print(io.recorded($0)) }
    return ExitCode.done
  }
}
