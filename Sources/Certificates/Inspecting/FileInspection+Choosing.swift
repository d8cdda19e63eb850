import Foundation
import OpenSSL

extension FileInspection {
  /// Selects the certificate and key that the file is about; the others become its chain.
  ///
  /// Order of preference: a certificate whose key is in the file, one that sends pushes to apps, the latest expiry. Two
  /// push certificates for different topics are an error: only the owner knows which one is meant.
  func choose(
    _ certificates: [Certificate], _ keys: [PrivateKey], format: CertificateFile.Format
  ) throws(FileProblem) -> CertificateFile {
    guard keys.allSatisfy(\.isSound) else { throw .unsoundKey }
    let halves = Dictionary(keys.map { ($0.publicKey.der, $0) }) { first, _ in first }
    func result(_ taken: Certificate, _ choice: CertificateFile.Choice?) -> CertificateFile {
      var rest = certificates
      if let index = rest.firstIndex(of: taken) { rest.remove(at: index) }
      var file = certificate(taken, key: halves[taken.publicKeyDER], others: rest, format: format)
      file.choice = choice
      return file
    }
    if let take = take?.hexadecimalDigits, !take.isEmpty {
      let fitting = certificates.filter { $0.isCalled(take) }
      guard let taken = fitting.first, Set(fitting).count == 1 else {
        throw .noSuchCertificate(Self.names(certificates))
      }
      return result(taken, .asked)
    }
    let withKey = certificates.filter { halves[$0.publicKeyDER] != nil }
    if withKey.isEmpty, !keys.isEmpty { throw .keyDoesNotMatch }
    // Issuers are chosen only if there is nothing else: of one certificate, it need not be known.
    let leaves = certificates.count == 1 ? certificates : certificates.filter { !$0.isAuthority }
    let candidates = withKey.isEmpty ? (leaves.isEmpty ? Array(certificates.prefix(1)) : leaves) : withKey
    if candidates.count == 1 { return result(candidates[0], leaves.count > 1 ? .onlyWithKey : nil) }
    let sending = candidates.filter { CertificateRole.of($0).role.kind.isForAPNs }
    if sending.count == 1 { return result(sending[0], .onlyForPush) }
    let equals = sending.isEmpty ? candidates : sending
    if !sending.isEmpty, Set(sending.map { Set(topics(of: $0).map(\.name)) }).count > 1 {
      throw .severalCertificates(Self.names(sending))
    }
    let last = equals.max { $0.notAfter < $1.notAfter } ?? equals[0]
    return result(last, .endsLast)
  }

  /// As `Apple Push Services: com.example.app (serial 4F02…)`, ten at most.
  private static func names(_ certificates: [Certificate]) -> [String] {
    certificates.prefix(10).map { "\(CertificateSummary($0).name) (serial \($0.serialNumber))" }
  }
}

extension Certificate {
  /// - Parameter digits: a prefix of the serial number or of a fingerprint.
  fileprivate func isCalled(_ digits: String) -> Bool {
    [serialNumber, sha256Fingerprint, sha1Fingerprint].contains { $0.hexadecimalDigits.hasPrefix(digits) }
  }
}

extension String {
  /// Upper case, without colons, blanks and leading zeros.
  fileprivate var hexadecimalDigits: String { String(uppercased().filter { !":  -".contains($0) }.drop { $0 == "0" }) }
}
