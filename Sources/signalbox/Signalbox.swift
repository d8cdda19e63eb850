import Arguments
import Foundation
import Glibc
import Logging
import Reactor
import SQLite
import Text

/// The command line: finds the command and runs it with the remaining arguments.
@main
enum Signalbox {
  /// Printed by `signalbox --version`.
  static let version = "0.1.0"

  /// Every command, in the order of the help.
  static let commands: [Command<Action>] = [
    ServeCommand.command,
    SimulateCommand.command,
    SendCommand.command,
    PushesCommand.command,
    IncidentsCommand.command,
    WebhooksCommand.command,
    SchedulesCommand.command,
    SmokeCommand.command,
    AppsCommand.command,
    DevicesCommand.command,
    ChannelsCommand.command,
    TopicsCommand.command,
    JPushCommand.command,
    CertificatesCommand.command,
    InspectCommand.command,
    CheckCertificatesCommand.command,
    UsersCommand.command,
    OIDCCommand.command,
    TokensCommand.command,
    RetentionCommand.command,
    BackupCommand.command,
    RestoreCommand.command,
    TakeOverCommand.command,
    RotateKeyCommand.command,
    DoctorCommand.command,
    HealthCommand.command,
  ]

  static let program = Program(
    Command(
      "signalbox", "A self-hosted console for push notifications.",
      discussion: "Exit codes: 0 success, 1 failure, 64 wrong usage, 75 not finished (send).",
      subcommands: commands + SelfDescription.commands),
    version: version, environmentPrefix: "SIGNALBOX")

  static func main() async {
    // A core dump would contain private keys in plain text.
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    Heap.limitArenas(to: 2)
    StandardStream.occupyClosed()
    exit(await run(Array(CommandLine.arguments.dropFirst()), .standard))
  }

  /// Runs a command line and returns its exit code.
  static func run(_ arguments: [String], _ io: CommandIO) async -> Int32 {
    var io = io
    io.translation = CommandTexts(io.environment)
    let code = await carryOut(arguments, io)
    // If the output was lost, the command fails, whatever it did.
    guard let failure = io.outputFailure() else { return code }
    io.complain("\(failure)")
    return code == ExitCode.done ? ExitCode.failed : code
  }

  private static func carryOut(_ arguments: [String], _ io: CommandIO) async -> Int32 {
    var (io, command) = (io, program.root.name)
    do {
      io = try io.withSecretsOfFiles()
      switch try program.parse(arguments, environment: io.environment, in: io.translation) {
      case .show(let text):
        io.print(text)
        return ExitCode.done
      case .run(let action, let values):
        command = values.command
        io.format = values[ifDeclared: LogOptions.format] ?? .text
        return try await action(values, io)
      }
    } catch let error as UsageError {
      return misused(error.command, error.message, io)
    } catch let failure as CommandFailure where failure.exitCode == ExitCode.usage {
      return misused(command, failure.message, io)
    } catch let failure as CommandFailure {
      io.complain(failure.message)
      return failure.exitCode
    } catch is OutputFailure {
      // Reported at the end of `run`.
      return ExitCode.failed
    } catch let error as SQLiteError where error.mayPass {
      // Its SQL says nothing about a full disk, a lock or missing permissions.
      io.complain("\(error.cause)")
      return ExitCode.failed
    } catch {
      io.complain("\(error)")
      return ExitCode.failed
    }
  }

  private static func misused(_ command: String, _ message: Message, _ io: CommandIO) -> Int32 {
    let help: Message = "See '\(command) --help'."
    io.complain(io.format == .json ? "\(message) \(help)" : message)
    if io.format == .text { io.writeError(io.text(help) + "\n") }
    return ExitCode.usage
  }
}
