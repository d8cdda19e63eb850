import Foundation
import OpenSSL

extension FileInspection {
  /// A file in binary form: the kinds are tried in turn, and the first that it is counts.
  func binary(_ data: Data) throws(FileProblem) -> InspectedFile {
    if let file = try pkcs12(data) { return file }
    if let file = try profile(data) { return file }
    do {
      return certificate(try Certificate(der: data), key: nil, others: [], format: .der)
    } catch {
      switch error {
      case .truncated: throw .truncated
      case .badDates: throw .damaged(detail: error.description)
      case .notACertificate, .cannotBeMade: break
      }
    }
    if let key = try privateKey(data) { return try self.key(key, format: .der) }
    if PublicKey(der: data) != nil { throw .notACertificateFile(.publicKey) }
    if CertificateRequest(der: data) != nil { throw .notACertificateFile(.certificateRequest) }
    throw .notACertificateFile(.unknown)
  }

  /// Nil if it is something else.
  private func pkcs12(_ data: Data) throws(FileProblem) -> InspectedFile? {
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
      case .noCertificate: throw .noCertificate
      case .noPrivateKey, .keyDoesNotMatch: throw .keyDoesNotMatch
      }
    }
    if let own = content.certificate {
      return certificate(own, key: content.key, others: content.others, format: .pkcs12)
    }
    guard content.key != nil else { throw .damaged(detail: "it holds neither a certificate nor a key") }
    throw content.others.isEmpty ? .noCertificate : .keyDoesNotMatch
  }

  /// Nil if it is something else.
  private func privateKey(_ data: Data) throws(FileProblem) -> PrivateKey? {
    do {
      return try PrivateKey(der: data, password: password)
    } catch {
      if case .notAPrivateKey = error { return nil }
      throw FileProblem(error)
    }
  }

  /// Nil if it is something else.
  private func profile(_ data: Data) throws(FileProblem) -> InspectedFile? {
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
      throw .notAProfile(detail: error.description)
    }
    return InspectedFile(
      format: .mobileProvision, kind: .provisioningProfile, role: nil, name: profile.name,
      topics: profile.bundleID.map { [.init(name: $0, kinds: ["app"])] } ?? [],
      environments: profile.apsEnvironment.map { [$0] } ?? [], teamID: profile.teamID, keyID: nil, certificate: nil,
      otherCertificates: [], privateKey: nil, profile: profile)
  }
}

extension FileProblem {
  /// What a key that cannot be read means for the file.
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
