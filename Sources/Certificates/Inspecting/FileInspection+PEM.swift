import Foundation
import OpenSSL

extension FileInspection {
  /// Real files have a chain and one or two keys. The limit bounds the work.
  static let maximumParts = 64

  /// PEM blocks in any order, with anything between them.
  func pem(_ text: FileText) throws(FileProblem) -> CertificateFile {
    let blocks = try blocks(text)
    if let whole = blocks.first(where: { $0.label == "PKCS12" || $0.label == "PFX" }) {
      return try binary(whole.content)
    }
    let parts = blocks.filter { $0.isCertificate || $0.isPrivateKey }
    guard parts.count <= Self.maximumParts else { throw .tooManyParts(parts.count) }
    var certificates: [Certificate] = []
    for block in parts where block.isCertificate {
      do { certificates.append(try Certificate(der: block.certificateContent)) } catch {
        throw error == .truncated ? .truncated : .damaged(detail: error.description)
      }
    }
    let locked = parts.filter(\.isPrivateKey)
    guard PrivateKey.isBearable(locked) else { throw .tooCostly }
    var keys: [PrivateKey] = []
    for block in locked {
      if block.label.hasPrefix("OPENSSH") { throw .notACertificateFile(.sshKey) }
      do { keys.append(try PrivateKey(block: block, password: password)) } catch { throw FileProblem(error) }
    }
    if certificates.isEmpty {
      if let only = keys.first { return try key(only, format: .pem) }
      throw .notACertificateFile(Self.found(blocks))
    }
    return try choose(certificates, keys, format: .pem)
  }

  private func blocks(_ text: FileText) throws(FileProblem) -> [PEMBlock] {
    do {
      let blocks = try PEMBlock.all(in: text.bytes)
      if !blocks.isEmpty { return blocks }
    } catch {
      // Retries with repaired line ends.
      guard let blocks = try? PEMBlock.all(in: text.repaired), !blocks.isEmpty else { throw Self.damage(text) }
      return blocks
    }
    guard let blocks = try? PEMBlock.all(in: text.repaired) else { throw Self.damage(text) }
    return blocks
  }

  /// The problem of unreadable blocks: if each has its end line, the file is not truncated.
  private static func damage(_ text: FileText) -> FileProblem { text.endsEveryBlock ? .badBase64 : .truncated }

  private static func found(_ blocks: [PEMBlock]) -> FileProblem.Found {
    let labels = Set(blocks.map(\.label))
    if labels.contains("CERTIFICATE REQUEST") || labels.contains("NEW CERTIFICATE REQUEST") {
      return .certificateRequest
    }
    if labels.contains("PKCS7") || labels.contains("CMS") { return .certificateBundle }
    if labels.contains("X509 CRL") { return .revocationList }
    if labels.contains(where: { $0.hasPrefix("PGP ") }) { return .pgpKey }
    if labels.contains(where: { $0.hasPrefix("SSH2 ") }) { return .sshKey }
    return labels.contains { $0.hasSuffix("PUBLIC KEY") } ? .publicKey : .otherPEM
  }
}
