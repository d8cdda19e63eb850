import Arguments
import Foundation
import JSON
import Model
import Text

enum DoctorCommand {
  private static let network = Flag(
    "network", "Also connect to the push servers and check the certificates they present.")

  static let command = Command<Action>(
    "doctor", "Check the installation and print one line per finding, with its fix.",
    discussion: "Exit code 0: no errors (warnings are possible). 1: something needs to be fixed.",
    parameters: [
      network.parameter, CommonOptions.proxy.parameter, CommonOptions.data.parameter, CommonOptions.json.parameter,
    ]
  ) { values, io in
    let io = try io.proxied(values)
    let doctor = Doctor(
      directory: DataDirectory(values, io), environment: io.environment, proxies: io.proxies, now: io.now())
    var findings = doctor.findings()
    if values[network] { findings += doctor.reach() }
    if values[CommonOptions.json] {
      io.print(findings.prettyJSON)
    } else {
      for finding in findings { io.print(finding.line) }
    }
    return findings.contains { $0.level == .error } ? ExitCode.failed : ExitCode.done
  }
}

extension Doctor.Finding: JSONWritable {
  fileprivate var line: String {
    let label = level.rawValue.uppercased().padding(toLength: 8, withPad: " ", startingAt: 0)
    let text = remedy.map { "\(message.withoutFullStop). Fix: \($0)" } ?? message
    return singleLine("\(label) \(subject): \(text)")
  }

  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("subject", subject)
      json.member("level", level.rawValue)
      json.member("message", message)
      json.member("remedy", remedy)
    }
  }
}
