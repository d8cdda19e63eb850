import Arguments
import Text

/// `signalbox take-over`
enum TakeOverCommand {
  private static let isStopped = Flag(
    "previous-is-stopped", "Confirm that the previous server no longer runs. Two servers would send every push twice.")

  static let command = Command<Action>(
    "take-over", "Promote a standby to server.",
    discussion: """
      Tells the signalbox serve --standby on the same data folder to copy the rest of the replica and to start serving. \
      Running pushes continue. Devices whose results had not reached the replica get the push again.
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
