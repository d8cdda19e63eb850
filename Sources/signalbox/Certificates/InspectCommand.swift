import Arguments
import Certificates
import Foundation
import JSON
import Model
import Text

/// `signalbox inspect FILE`
enum InspectCommand {
  private static let file = Argument<String>("file", "The file; - for standard input.")

  static let take = Option<String?>(
    "take", "serial",
    "If the file holds several certificates: the start of the serial number or fingerprint of the one to use.")

  static let command = Command<Action>(
    "inspect", "Show what a certificate, key, or profile file contains, without saving it.",
    discussion:
      "Accepts .p12, .pem, .cer, .p8, and .mobileprovision files, Google service accounts, and JPush keys, under any "
      + "file name.",
    parameters: [file.parameter, take.parameter, CommonOptions.json.parameter, CommonOptions.password.parameter]
  ) { values, io in
    run(
      path: values[file], isJSON: values[CommonOptions.json], password: values[CommonOptions.password],
      take: values[take], io: io)
  }

  /// The file name to store.
  static func fileName(_ path: String) -> String {
    path == "-" ? "standard input" : URL(fileURLWithPath: path).lastPathComponent
  }

  static func run(path: String, isJSON: Bool, password: String?, take: String? = nil, io: CommandIO) -> Int32 {
    do {
      let file = try read(path: path, password: password, take: take, io)
      let now = io.now()
      io.print(
        isJSON
          ? CertificateFileAnswer(file, now: now).prettyJSON
          : file.lines(now: now, in: io.translation).joined(separator: "\n"))
      return ExitCode.done
    } catch {
      io.complain("\(error)")
      return ExitCode.failed
    }
  }

  /// Reads and inspects a file, or standard input.
  ///
  /// - Throws: ``CommandFailure`` with path and remedy.
  static func read(path: String, password: String?, take: String? = nil, _ io: CommandIO) throws -> CertificateFile {
    do {
      // One byte over the limit is enough to refuse the input.
      let (data, name) =
        path == "-"
        ? (try io.readAll(limit: CertificateFile.maximumBytes + 1), nil)
        : (try CertificateFileReader.data(path), URL(fileURLWithPath: path).lastPathComponent)
      return try CertificateFile.inspect(data: data, fileName: name, password: password, take: take)
    } catch let problem as FileProblem {
      let name: Message = path == "-" ? "standard input" : "\(singleLine(path))"
      switch problem {
      case .passwordNeeded: throw CommandFailure("\(name): \(problem) Set it in SIGNALBOX_PASSWORD.")
      case .severalCertificates: throw CommandFailure("\(name): \(problem) Use --take SERIAL.")
      default: throw CommandFailure("\(name): \(problem)")
      }
    } catch let failure as CommandFailure {
      throw path == "-" ? failure : CommandFailure("\(singleLine(path)): \(failure)")
    }
  }
}
