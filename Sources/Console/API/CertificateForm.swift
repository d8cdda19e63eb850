import Certificates
import Foundation
import HTTPServer
import OpenSSL
import Push
import Reactor

/// A file with what is said beside it, as the certificate routes of the API take it.
struct CertificateForm: Sendable {
  private static let textLimit = 1024

  let data: Data
  let fileName: String
  /// What was sent and is not empty.
  let texts: [String: String]

  /// Reads the form.
  ///
  /// - Parameter choices: fields that are `true` or `false`.
  /// - Throws: 415, 413, 400 for a body that is no such form; `Problems` for fields that are unknown, missing or twice.
  init(_ call: APIContext, fields: [String], choices: [String]) async throws {
    let form = try await FormData(
      call.request, limits: MultipartLimits(parts: 20, partBytes: CertificateFile.maximumBytes))
    var problems: [Problem] = []
    var texts: [String: String] = [:]
    var file: FormData.Item?
    var seen: Set<String> = []
    for item in form.items {
      let name = item.part.name
      if !fields.contains(name) {
        problems.append(Self.unknown(name, fields))
      } else if !seen.insert(name).inserted {
        problems.append(Problem(name, code: "form.twice", "This field stands twice; give it once."))
      } else if name == "file" {
        file = item
      } else if let text = String(validating: item.bytes, as: UTF8.self), text.utf8.count <= Self.textLimit {
        texts[name] = text
      } else {
        problems.append(
          Problem(
            name, code: "form.text", "Must be text in UTF-8 of at most {limit} bytes.",
            ["limit": String(Self.textLimit)]))
      }
    }
    if file == nil { problems.append(Problem("file", FieldMessage.required)) }
    for name in choices {
      guard let word = texts[name], word != "true", word != "false" else { continue }
      problems.append(
        Problem(name, FieldMessage.expectedChoice, ["choices": "true, false", "value": String(word.prefix(40))]))
    }
    guard problems.isEmpty, let file else { throw Problems(Array(problems.prefix(100))) }
    data = Data(file.bytes)
    // A client that sends no name sends no file in the browser's sense, but its bytes are as good.
    fileName = file.part.fileName.flatMap { $0.isEmpty ? nil : String($0.prefix(255)) } ?? "file"
    self.texts = texts.filter { !$0.value.isEmpty }
  }

  private static func unknown(_ name: String, _ fields: [String]) -> Problem {
    let shown = String(name.prefix(60))
    if let suggestion = Suggestion.closest(to: name, among: fields) {
      return Problem(shown, FieldMessage.unknownSimilar, ["suggestion": suggestion])
    }
    return Problem(shown, FieldMessage.unknown, ["known": fields.joined(separator: ", ")])
  }

  /// Looks into the file.
  ///
  /// - Throws: `Problems`.
  func inspect(_ call: APIContext) async throws -> InspectedFile {
    let (data, fileName, password) = (data, fileName, texts["password"])
    return try await call.console.pool.run {
      do throws(FileProblem) {
        return try CertificateFile.inspect(data: data, fileName: fileName, password: password)
      } catch {
        throw Problems([error.problem])
      }
    }
  }

  /// What makes an upload the same as another one. Without the password: nothing that is kept may help to guess it,
  /// and the wrong one gets no answer worth keeping.
  var content: [UInt8] {
    let others = texts.filter { $0.key != "password" }.mapValues { JSONValue.string($0) }
    let members: JSONValue = [
      "file": .string(Digest.sha256(Array(data)).map { String(format: "%02x", $0) }.joined()),
      "name": .string(fileName), "fields": .object(others),
    ]
    return Array(members.data())
  }
}
