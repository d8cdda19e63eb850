import Arguments
import Foundation
import Push

/// `signalbox doctor`
enum DoctorCommand {
  private static let network = Flag(
    "network", "Also connects to the servers that credentials name, and looks at what certificates they show.")

  static let command = Command<Action>(
    "doctor", "Looks the installation over: one line for each finding, with its remedy.",
    discussion: "Exit 0: no errors (there may be warnings). 1: something has to be put right.",
    parameters: [network.parameter, CommonOptions.data.parameter, CommonOptions.json.parameter]
  ) { values, io in
    let doctor = Doctor(
      directory: DataDirectory(values, io), environment: io.environment, now: io.now())
    var findings = doctor.findings()
    if values[network] { findings += doctor.reach() }
    if values[CommonOptions.json] {
      io.print(JSONValue.array(findings.map(\.json)).text(pretty: true))
    } else {
      for finding in findings { io.print(finding.line) }
    }
    return findings.contains { $0.level == .error } ? ExitCode.failed : ExitCode.done
  }
}

extension Doctor.Finding {
  fileprivate var line: String {
    let label = level.rawValue.uppercased().padding(toLength: 8, withPad: " ", startingAt: 0)
    let text = remedy.map { "\(message.withoutFullStop). Remedy: \($0)" } ?? message
    return singleLine("\(label) \(subject): \(text)")
  }

  fileprivate var json: JSONValue {
    [
      "subject": .string(subject), "level": .string(level.rawValue), "message": .string(message),
      "remedy": .optional(remedy),
    ]
  }
}
