import Foundation
import JSON
import OpenSSL
import Model
import Providers

/// Files with secrets of services other than Apple's.
extension FileInspection {
  /// Bytes. Larger files are not parsed: they cannot be key files.
  private static let maximumKeyFile = 64 * 1024

  /// A JSON file; nil if the text is neither JSON nor a part of a service account's.
  func json(_ text: FileText, layer: Int) throws(FileProblem) -> CertificateFile? {
    let first = text.head.utf8.first
    guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") || text.isOfServiceAccount else { return nil }
    guard text.bytes.count <= Self.maximumKeyFile else { throw .notACertificateFile(.json) }
    let value: JSONValue
    do { value = try JSONValue(parsing: text.bytes) } catch {
      // `{length = 32, bytes = …}` (a printed device token) is not JSON at all.
      if text.head.hasPrefix("{length") { throw .notACertificateFile(FileProblem.Found(text)) }
      guard text.isOfServiceAccount || text.head.contains("private_key") else { throw .notACertificateFile(.json) }
      // Truncated JSON can still be recognized, and the strict reader's complaint is the better one.
      guard let mended = try? JSONValue(parsing: text.mendedJSON) else { throw .jsonDamaged(Problem(error).text) }
      value = mended
    }
    guard let members = value.object else { throw .notACertificateFile(.json) }
    if value["type"]?.string == "service_account" { return try serviceAccount(members) }
    for name in members.keys.sorted() where layer < 2 {
      // A file of settings, with the account as one of them.
      if let account = members[name], account["type"]?.string == "service_account", let own = account.object {
        return try serviceAccount(own)
      }
      if let inner = members[name]?.string, let data = FileText(Data(inner.utf8))?.unwrapped ?? Self.account(inner) {
        return try any(data, layer: layer + 1)
      }
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

  /// A text that is a service account's JSON itself.
  private static func account(_ text: String) -> Data? { text.contains("service_account") ? Data(text.utf8) : nil }

  private func serviceAccount(_ members: [String: JSONValue]) throws(FileProblem) -> CertificateFile {
    var members = members
    if let key = members["private_key"]?.string { members["private_key"] = .string(Self.mendedKey(key)) }
    let account: ServiceAccount
    do { account = try ServiceAccount(json: .object(members)) } catch { throw .serviceAccount(error) }
    return CertificateFile(
      format: .json, kind: .fcmServiceAccount, role: nil, name: account.clientEmail, topics: [], environments: [],
      teamID: nil, keyID: account.privateKeyID, certificate: nil, otherCertificates: [], privateKey: account.key,
      profile: nil, serviceAccount: account)
  }

  /// The private key of a service account with the line ends that PEM needs, in whatever form it passed through
  /// environment variables and forms: the same as those of a `.p8`.
  private static func mendedKey(_ key: String) -> String {
    guard let text = FileText(Data(key.utf8)) else { return key }
    guard let inner = text.unwrapped else { return String(decoding: text.repaired, as: UTF8.self) }
    if let text = FileText(inner) { return String(decoding: text.repaired, as: UTF8.self) }
    // The Base64 of a PEM text without its first and last line.
    return (try? PrivateKey(der: inner))?.pkcs8PEM ?? key  // an unreadable key is reported by the caller
  }
}
