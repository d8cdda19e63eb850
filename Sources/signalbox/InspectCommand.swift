import Arguments
import Certificates
import Foundation
import Push

/// `signalbox inspect FILE`
enum InspectCommand {
  private static let file = Argument<String>("file", "The file.")

  static let take = Option<String?>(
    "take", "serial", "Of several certificates the one with this serial number or fingerprint, or its beginning.")

  static let command = Command<Action>(
    "inspect", "Shows what is in a certificate, key or profile file, without keeping it.",
    discussion:
      "Takes .p12, .pem, .cer, .p8 and .mobileprovision files, Google service accounts and JPush’s keys, whatever their "
      + "names.",
    parameters: [file.parameter, take.parameter, CommonOptions.json.parameter, CommonOptions.password.parameter]
  ) { values, io in
    run(
      path: values[file], isJSON: values[CommonOptions.json], password: values[CommonOptions.password],
      take: values[take], io: io)
  }

  static func run(path: String, isJSON: Bool, password: String?, take: String? = nil, io: CommandIO) -> Int32 {
    do {
      let file = try read(path: path, password: password, take: take)
      let now = io.now()
      io.print(isJSON ? file.json(now: now).text(pretty: true) : file.lines(now: now).joined(separator: "\n"))
      return ExitCode.done
    } catch {
      io.complain("\(error)")
      return ExitCode.failed
    }
  }

  /// Reads and inspects a file.
  ///
  /// - Throws: ``CommandFailure`` with path and remedy.
  static func read(path: String, password: String?, take: String? = nil) throws -> InspectedFile {
    do {
      return try CertificateFile.inspect(
        data: try CertificateFileReader.data(path), fileName: URL(fileURLWithPath: path).lastPathComponent,
        password: password, take: take)
    } catch let problem as FileProblem {
      var text = problem.problem.text
      if case .passwordNeeded = problem { text += " Here it is read from SIGNALBOX_PASSWORD." }
      if case .severalCertificates = problem { text += " Here: --take SERIAL." }
      throw CommandFailure("\(singleLine(path)): \(text)")
    } catch let failure as CommandFailure {
      throw CommandFailure("\(singleLine(path)): \(failure)")
    }
  }
}
