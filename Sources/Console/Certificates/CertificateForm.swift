import Certificates
import Foundation
import HTTPServer
import JSON
import OpenSSL
import Model
import Providers
import Reactor
import Text

/// A file and its fields, as the certificate routes of the API take them.
struct CertificateForm: Sendable {
  private static let textLimit = 8192
  /// Secret fields: nothing that is stored may help to guess them.
  private static let secrets: Set<String> = ["password", "master_secret"]

  let data: Data
  let fileName: String
  /// The fields that are not empty.
  let texts: [String: String]

  /// Reads the form.
  ///
  /// - Parameter choices: fields that are `true` or `false`.
  /// - Throws: 415, 413 or 400 for a body that is not such a form; `Problems` for unknown, missing or repeated fields.
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
        problems.append(Problem(name, code: "form.twice", "This field appears twice. Include it once."))
      } else if name == "file" {
        file = item
      } else if let text = String(validating: item.bytes, as: UTF8.self), text.utf8.count <= Self.textLimit {
        texts[name] = text
      } else {
        problems.append(
          Problem(
            name, code: "form.text", "Must be UTF-8 text of at most {limit} bytes.",
            ["limit": String(Self.textLimit)]))
      }
    }
    let pair = Self.keyPair(texts, hasFile: file != nil, &problems)
    if file == nil, pair == nil, problems.isEmpty { problems.append(Problem("file", FieldMessage.required)) }
    for name in choices {
      guard let word = texts[name], word != "true", word != "false" else { continue }
      problems.append(
        Problem(name, FieldMessage.expectedChoice, ["choices": "true, false", "value": String(word.prefix(40))]))
    }
    guard problems.isEmpty, let data = file.map({ Data($0.bytes) }) ?? pair.map({ Data($0.material) }) else {
      throw Problems(Array(problems.prefix(100)))
    }
    self.data = data
    // A client may send the file without a name.
    fileName =
      file?.part.fileName.flatMap { $0.isEmpty ? nil : String($0.prefix(255)) } ?? (file == nil ? "JPush" : "file")
    self.texts = texts.filter { !$0.value.isEmpty }
  }

  /// JPush keys typed instead of a file.
  private static func keyPair(
    _ texts: [String: String], hasFile: Bool, _ problems: inout [Problem]
  ) -> JPushKeyPair? {
    guard texts["app_key"] != nil || texts["master_secret"] != nil else { return nil }
    if hasFile {
      problems.append(
        Problem("file", code: "certificate.file_and_keys", "Choose either a file or JPush keys, not both."))
      return nil
    }
    do {
      return try JPushKeyPair(appKey: texts["app_key"] ?? "", masterSecret: texts["master_secret"] ?? "")
    } catch {
      problems += error.all
      return nil
    }
  }

  private static func unknown(_ name: String, _ fields: [String]) -> Problem {
    let shown = String(name.prefix(60))
    if let suggestion = Suggestion.closest(to: name, among: fields) {
      return Problem(shown, FieldMessage.unknownSimilar, ["suggestion": suggestion])
    }
    return Problem(shown, FieldMessage.unknown, ["known": fields.joined(separator: ", ")])
  }

  /// Inspects the file.
  ///
  /// - Throws: `Problems`.
  func inspect(_ call: APIContext) async throws -> CertificateFile {
    let (data, fileName, password, take) = (data, fileName, texts["password"], texts["take"])
    return try await call.console.pools.certificates.run {
      do throws(FileProblem) {
        return try CertificateFile.inspect(data: data, fileName: fileName, password: password, take: take)
      } catch {
        throw Problems([error.problem])
      }
    }
  }

  /// What makes two uploads the same. Leaves out secrets: nothing that is stored may help to guess them, and a wrong
  /// password gets no answer worth storing.
  var content: [UInt8] {
    let others = texts.filter { !Self.secrets.contains($0.key) }.mapValues { JSONValue.string($0) }
    let members: JSONValue = [
      "file": .string(Digest.sha256(Array(data)).map { String(format: "%02x", $0) }.joined()),
      "name": .string(fileName), "fields": .object(others),
    ]
    return Array(members.data())
  }
}
