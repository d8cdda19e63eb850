import Foundation
import OpenSSL
import Text

extension FileInspection {
  /// Tries the binary formats in turn.
  func binary(_ whole: Data) throws(FileProblem) -> CertificateFile {
    let data = Self.withoutPadding(whole)
    if let file = try pkcs12(data) { return file }
    if let file = try profile(data) { return file }
    if let all = try certificates(data) { return try choose(all, [], format: .der) }
    if let key = try privateKey(data) { return try self.key(key, format: .der) }
    if PublicKey(der: data) != nil { throw .notACertificateFile(.publicKey) }
    if CertificateRequest(der: data) != nil { throw .notACertificateFile(.certificateRequest) }
    throw .notACertificateFile(FileProblem.Found(lookingAt: Array(data.prefix(4096))))
  }

  /// Editors and mail programs append line ends to a file, and disks append zeros.
  private static func withoutPadding(_ data: Data) -> Data {
    guard let end = PEMBlock.endOfBinary(data), end < data.count,
      data[end...].allSatisfy({ $0 == 0 || $0 == 0x0A || $0 == 0x0D || $0 == 0x20 || $0 == 0x1A })
    else { return data }
    return Data(data[..<end])
  }

  /// Nil if the data has another format.
  private func pkcs12(_ data: Data) throws(FileProblem) -> CertificateFile? {
    let content: PKCS12
    do {
      content = try PKCS12.open(data, password: password)
    } catch {
      switch error {
      case .notPKCS12: return nil
      case .truncated: throw .truncated
      case .passwordNeeded: throw .passwordNeeded
      case .wrongPassword: throw .wrongPassword
      case .unsupported(let algorithm): throw .unsupportedAlgorithm(algorithm)
      case .tooCostly: throw .tooCostly
      case .damaged(let error): throw .damaged(detail: error.description)
      case .badCertificate(let error): throw .damaged(detail: error.description)
      }
    }
    guard !content.certificates.isEmpty else {
      throw content.keys.isEmpty ? .damaged(detail: "it holds neither a certificate nor a key") : .noCertificate
    }
    var file = try choose(content.certificates, content.keys, format: .pkcs12)
    file.encryption = content.algorithms
    return file
  }

  /// One certificate, or several one after the other, as `cat` makes them; nil if the data has another format.
  private func certificates(_ data: Data) throws(FileProblem) -> [Certificate]? {
    var certificates: [Certificate] = []
    var rest = data
    while !rest.isEmpty {
      guard rest.first == DER.sequence else { return nil }
      let end = PEMBlock.endOfBinary(rest) ?? rest.count
      guard let next = try certificate(Data(rest.prefix(end))) else { return nil }
      certificates.append(next)
      guard certificates.count <= Self.maximumParts else { throw .tooManyParts(certificates.count) }
      rest = Data(rest.dropFirst(end))
    }
    return certificates.isEmpty ? nil : certificates
  }

  /// Nil if the data has another format.
  private func certificate(_ data: Data) throws(FileProblem) -> Certificate? {
    do { return try Certificate(der: data) } catch {
      switch error {
      case .truncated: throw .truncated
      case .badDates: throw .damaged(detail: error.description)
      case .notACertificate, .cannotBeMade: return nil
      }
    }
  }

  /// Nil if the data has another format.
  private func privateKey(_ data: Data) throws(FileProblem) -> PrivateKey? {
    do {
      return try PrivateKey(der: data, password: password)
    } catch {
      if case .notAPrivateKey = error { return nil }
      throw FileProblem(error)
    }
  }

  /// Nil if the data has another format.
  private func profile(_ data: Data) throws(FileProblem) -> CertificateFile? {
    let message: CMSMessage
    do {
      message = try CMSMessage(der: data)
    } catch {
      switch error {
      case .notSigned: return nil
      case .truncated: throw .truncated
      case .noContent: throw .notACertificateFile(.certificateBundle)
      }
    }
    let profile: ProvisioningProfile
    do {
      profile = try ProvisioningProfile(propertyList: message.content, isIntact: message.isIntact)
    } catch {
      if message.content.holds("PayloadType") { throw .notACertificateFile(.configurationProfile) }
      throw .notAProfile(detail: error.description)
    }
    return CertificateFile(
      format: .mobileProvision, kind: .provisioningProfile, role: nil, name: profile.name,
      topics: profile.bundleID.map { [.init(name: $0, kinds: ["app"])] } ?? [],
      environments: profile.apsEnvironment.map { [$0] } ?? [], teamID: profile.teamID, keyID: nil, certificate: nil,
      otherCertificates: [], privateKey: nil, profile: profile)
  }
}

extension FileProblem {
  /// The problem of a file whose key cannot be read.
  init(_ error: PrivateKeyError) {
    self =
      switch error {
      case .notAPrivateKey: .damaged(detail: "its private key cannot be read")
      case .truncated: .truncated
      case .passwordNeeded: .passwordNeeded
      case .wrongPassword: .wrongPassword
      case .unsupported(let algorithm): .unsupportedAlgorithm(algorithm)
      case .tooCostly: .tooCostly
      case .wrongKind(_, let found): .wrongKeyKind(found: found.description)
      }
  }
}
