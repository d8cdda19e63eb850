import Foundation
import JSON
import OpenSSL
import Model
import Providers

/// Files with secrets of services other than Apple's.
extension FileInspection {
  /// Bytes. Larger files are not parsed: they cannot be key files.
  private static let maximumKeyFile = 64 * 1024

  /// A JSON file; nil if the text is not JSON.
  func json(_ text: FileText) throws(FileProblem) -> CertificateFile? {
    guard let first = text.head.utf8.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return nil }
    guard text.bytes.count <= Self.maximumKeyFile else { throw .notACertificateFile(.json) }
    let value: JSONValue
    do { value = try JSONValue(parsing: text.bytes) } catch {
      // Truncated JSON can still be recognized; `{length = 32, bytes = …}` (a printed device token) is not JSON at all.
      if text.head.hasPrefix("{length") { throw .notACertificateFile(FileProblem.Found(text)) }
      if text.head.contains("service_account") || text.head.contains("private_key") {
        throw .jsonDamaged(Problem(error).text)
      }
      throw .notACertificateFile(.json)
    }
    guard let members = value.object else { throw .notACertificateFile(.json) }
    if value["type"]?.string == "service_account" {
      do { return serviceAccount(try ServiceAccount(json: value)) } catch { throw .serviceAccount(error) }
    }
    if value["type"]?.string == "authorized_user" { throw .notACertificateFile(.googleUser) }
    if value["project_info"] != nil, value["client"] != nil { throw .notACertificateFile(.googleServices) }
    if value["installed"] != nil || value["web"] != nil { throw .notACertificateFile(.googleClient) }
    var named: [String: String] = [:]
    for (name, value) in members {
      if let text = value.string { named[Self.plain(name)] = text }
    }
    guard let file = try keyPair(named) else { throw .notACertificateFile(.json) }
    return file
  }

  /// JPush keys: `AppKey: …` and `Master Secret: …` on separate lines, or `appKey:masterSecret`, the user and password
  /// of JPush's API. Nil if the text is something else.
  func keyPair(_ text: FileText) throws(FileProblem) -> CertificateFile? {
    guard text.bytes.count <= 4096 else { return nil }
    var named: [String: String] = [:]
    for line in text.head.split(whereSeparator: \.isNewline) {
      let parts = line.split(maxSplits: 1) { ":=：".contains($0) }.map { $0.trimmingCharacters(in: Self.frame) }
      guard parts.count == 2 else { continue }
      named[Self.plain(parts[0])] = parts[1]
      if let pair = try? JPushKeyPair(appKey: parts[0], masterSecret: parts[1]) { return file(pair) }
    }
    return try keyPair(named)
  }

  /// Blanks and quotation marks around a value.
  private static let frame = CharacterSet.whitespaces.union(CharacterSet(charactersIn: "\"'“”‘’,"))

  /// Makes `App Key`, `app_key` and `AppKey` equal.
  private static func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter } }

  private func keyPair(_ named: [String: String]) throws(FileProblem) -> CertificateFile? {
    let (appKey, secret) = (named["appkey"], named["mastersecret"])
    guard appKey != nil || secret != nil else { return nil }
    guard let appKey else { throw .keyPair("app_key") }
    guard let secret else { throw .keyPair("master_secret") }
    do { return file(try JPushKeyPair(appKey: appKey, masterSecret: secret)) } catch {
      throw .keyPair(error.all.first?.field ?? "app_key")
    }
  }

  private func file(_ pair: JPushKeyPair) -> CertificateFile {
    CertificateFile(
      format: .text, kind: .jpushKeyPair, role: nil, name: pair.description, topics: [], environments: [],
      teamID: nil, keyID: pair.appKey, certificate: nil, otherCertificates: [], privateKey: nil, profile: nil,
      keyPair: pair)
  }

  private func serviceAccount(_ account: ServiceAccount) -> CertificateFile {
    CertificateFile(
      format: .json, kind: .fcmServiceAccount, role: nil, name: account.clientEmail, topics: [], environments: [],
      teamID: nil, keyID: account.privateKeyID, certificate: nil, otherCertificates: [], privateKey: account.key,
      profile: nil, serviceAccount: account)
  }
}
