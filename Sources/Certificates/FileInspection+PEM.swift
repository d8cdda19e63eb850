import Foundation
import OpenSSL

extension FileInspection {
  /// A text in PEM form: certificates and keys in any order, with anything between them.
  func pem(_ data: Data) throws(FileProblem) -> InspectedFile {
    let blocks: [PEMBlock]
    do { blocks = try PEMBlock.all(in: data) } catch { throw .truncated }
    var certificates: [Certificate] = []
    for block in blocks where block.isCertificate {
      do { certificates.append(try Certificate(der: block.content)) } catch {
        throw error == .truncated ? .truncated : .damaged(detail: error.description)
      }
    }
    var keys: [PrivateKey] = []
    for block in blocks where block.isPrivateKey {
      do { keys.append(try PrivateKey(block: block, password: password)) } catch { throw FileProblem(error) }
    }
    guard !certificates.isEmpty else {
      if let only = keys.first { return try key(only, format: .pem) }
      throw .notACertificateFile(Self.found(blocks))
    }
    if keys.isEmpty {
      // The end of the chain stands first by custom; an issuer never counts while there is another.
      let own = certificates.firstIndex { !$0.isAuthority } ?? 0
      return certificate(certificates.remove(at: own), key: nil, others: certificates, format: .pem)
    }
    let keysByPublicHalf = Dictionary(keys.map { ($0.publicKey.der, $0) }) { first, _ in first }
    for (index, candidate) in certificates.enumerated() {
      guard let key = keysByPublicHalf[candidate.publicKeyDER] else { continue }
      certificates.remove(at: index)
      return certificate(candidate, key: key, others: certificates, format: .pem)
    }
    throw .keyDoesNotMatch
  }

  private static func found(_ blocks: [PEMBlock]) -> FileProblem.Found {
    let labels = Set(blocks.map(\.label))
    if labels.contains("CERTIFICATE REQUEST") || labels.contains("NEW CERTIFICATE REQUEST") {
      return .certificateRequest
    }
    if labels.contains("PKCS7") || labels.contains("CMS") { return .certificateBundle }
    return labels.contains { $0.hasSuffix("PUBLIC KEY") } ? .publicKey : .otherPEM
  }
}
