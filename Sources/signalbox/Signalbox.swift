import Arguments
import Foundation
import Glibc

/// The command line: finds the command and gives it the rest.
@main
enum Signalbox {
  /// As `signalbox --version` tells it.
  static let version = "0.1.0"

  /// Every command, in the order of the help.
  static let commands: [Command<Action>] = [
    ServeCommand.command,
    SimulateCommand.command,
    SendCommand.command,
    SchedulesCommand.command,
    AppsCommand.command,
    DevicesCommand.command,
    CertificatesCommand.command,
    InspectCommand.command,
    CheckCertificatesCommand.command,
    UsersCommand.command,
    TokensCommand.command,
    RetentionCommand.command,
    BackupCommand.command,
    RestoreCommand.command,
    RotateKeyCommand.command,
    DoctorCommand.command,
  ]

  static let program = Program(
    Command(
      "signalbox", "A self-hosted console for push notifications.",
      discussion: "Exit codes: 0 done, 1 failed, 64 wrong usage.", subcommands: commands),
    version: version, environmentPrefix: "SIGNALBOX")

  static func main() async {
    // A core dump would hold private keys in clear.
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    exit(await run(Array(CommandLine.arguments.dropFirst()), .standard))
  }

  /// Runs a command line, and gives the exit code.
  static func run(_ arguments: [String], _ io: CommandIO) async -> Int32 {
    do {
      switch try program.parse(arguments, environment: io.environment) {
      case .show(let text):
        io.print(text)
        return ExitCode.done
      case .run(let action, let values): return try await action(values, io)
      }
    } catch let error as UsageError {
      io.complain(error.message)
      let command = error.usage.prefix { $0 != "<" && $0 != "[" && $0 != "-" }.trimmingCharacters(in: .whitespaces)
      io.writeError("Usage: \(error.usage)\n  See '\(command) --help' for more information.\n")
      return ExitCode.usage
    } catch let failure as CommandFailure {
      io.complain(failure.description)
      return failure.exitCode
    } catch {
      io.complain("\(error)")
      return ExitCode.failed
    }
  }
}
