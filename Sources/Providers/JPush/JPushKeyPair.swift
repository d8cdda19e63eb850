import Foundation
import JSON
package import Model

/// App key and master secret of a JPush app (docs/protocols.md §4.1): 24 hexadecimal digits each.
package struct JPushKeyPair: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// Public: every build of the app contains it.
  package let appKey: String
  package let masterSecret: String

  static let digits = 24

  /// Converts digits to lower case.
  ///
  /// - Throws: `Problems` at `app_key` and `master_secret`.
  package init(appKey: String, masterSecret: String) throws(Problems) {
    let texts = [appKey, masterSecret].map { $0.trimmingCharacters(in: .whitespacesAndNewlines).lowercased() }
    var problems: [Problem] = []
    for (text, field) in zip(texts, ["app_key", "master_secret"]) where !Self.isKey(text) {
      let characters = text.count == 1 ? "1 character" : "{count} characters"
      problems.append(
        Problem(
          field, code: "file.jpush_\(field)",
          "Must be 24 hexadecimal digits, but has \(characters). Copy it from the app’s settings in the JPush console.",
          ["count": "\(text.count)"]))
    }
    if problems.isEmpty, texts[0] == texts[1] {
      problems.append(
        Problem(
          "master_secret", code: "file.jpush_same",
          "This is the AppKey again. The master secret is below it in the JPush console."))
    }
    guard problems.isEmpty else { throw Problems(problems) }
    (self.appKey, self.masterSecret) = (texts[0], texts[1])
  }

  /// Reads ``material``. Nil for anything else.
  package init?(material: [UInt8]) {
    guard let json = try? JSONValue(parsing: Data(material)), let appKey = json["app_key"]?.string,
      let secret = json["master_secret"]?.string, let pair = try? JPushKeyPair(appKey: appKey, masterSecret: secret)
    else { return nil }
    self = pair
  }

  /// The bytes to seal; also valid as an uploaded file. A secret.
  package var material: [UInt8] {
    Array((["app_key": .string(appKey), "master_secret": .string(masterSecret)] as JSONValue).data())
  }

  private static func isKey(_ text: String) -> Bool {
    text.utf8.count == digits && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// Without the secret.
  package var description: String { "JPush \(appKey)" }
  package var debugDescription: String { description }
  /// Without the secret too: `dump` and test reports use mirrors.
  package var customMirror: Mirror { Mirror(self, children: ["appKey": appKey]) }
}
