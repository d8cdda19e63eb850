import Certificates
import Foundation
import Push

/// `signalbox inspect FILE`
enum InspectCommand {
  static func run(path: String, isJSON: Bool) -> Int32 {
    do {
      let url = URL(fileURLWithPath: path)
      // One byte more than is taken: a larger file need not be read to be refused.
      let handle = try FileHandle(forReadingFrom: url)
      defer { try? handle.close() }  // nothing was written
      let data = try handle.read(upToCount: CertificateFile.maximumBytes + 1) ?? Data()
      let file = try CertificateFile.inspect(
        data: data, fileName: url.lastPathComponent,
        password: ProcessInfo.processInfo.environment["SIGNALBOX_PASSWORD"])
      let now = Date()
      print(isJSON ? file.json(now: now).text(pretty: true) : file.lines(now: now).joined(separator: "\n"))
      return 0
    } catch {
      Signalbox.complain("\(path): \((error as? FileProblem)?.problem.text ?? error.localizedDescription)")
      return 1
    }
  }
}
