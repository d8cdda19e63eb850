import Foundation

/// The command line: finds the command and gives it the rest.
@main
enum Signalbox {
  static let usage = """
    USAGE: signalbox <command>

    COMMANDS:
      inspect FILE              what is in a .p12, .pem, .cer, .p8 or .mobileprovision file, without keeping it;
                                the password of a .p12 is read from SIGNALBOX_PASSWORD
      check-certificates        how long what is kept lasts; exit 0 all fine, 1 something expires within the limit,
                                2 expired or 7 days or less, 3 could not tell

    OPTIONS:
      --json                    machine-readable output
      --data DIR                where signalbox.sqlite and secret.key are (default: ./data, SIGNALBOX_DATA)
      --within DAYS             for check-certificates, as 30d (default: 30d)
    """

  static func main() {
    var arguments = Array(CommandLine.arguments.dropFirst())
    guard !arguments.isEmpty else { refuse("a command is needed") }
    if arguments.contains("--help") || arguments.contains("-h") {
      print(usage)
      return
    }
    let isJSON = take(flag: "--json", &arguments)
    let data = take(option: "--data", &arguments) ?? ProcessInfo.processInfo.environment["SIGNALBOX_DATA"] ?? "./data"
    let within = take(option: "--within", &arguments) ?? "30d"
    let command = arguments.removeFirst()
    switch (command, arguments.count) {
    case ("inspect", 1): exit(InspectCommand.run(path: arguments[0], isJSON: isJSON))
    case ("inspect", _): refuse("inspect takes one file")
    case ("check-certificates", 0):
      guard let days = Int(within.hasSuffix("d") ? String(within.dropLast()) : within), (0...36_500).contains(days)
      else {
        refuse("--within takes a number of days, as 30d, not \(within)")
      }
      exit(CheckCertificatesCommand.run(data: data, days: days, isJSON: isJSON))
    default: refuse("unknown arguments: \(([command] + arguments).joined(separator: " "))")
    }
  }

  static func complain(_ message: String) {
    FileHandle.standardError.write(Data("signalbox: error: \(message)\n".utf8))
  }

  private static func refuse(_ message: String) -> Never {
    complain(message)
    FileHandle.standardError.write(Data((usage + "\n").utf8))
    exit(64)
  }

  private static func take(flag: String, _ arguments: inout [String]) -> Bool {
    guard let index = arguments.firstIndex(of: flag) else { return false }
    arguments.remove(at: index)
    return true
  }

  private static func take(option: String, _ arguments: inout [String]) -> String? {
    guard let index = arguments.firstIndex(of: option) else { return nil }
    guard index + 1 < arguments.count else { refuse("\(option) needs a value") }
    arguments.remove(at: index)
    return arguments.remove(at: index)
  }
}
