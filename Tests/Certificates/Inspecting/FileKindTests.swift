import Certificates
import Foundation
import JSON
import OpenSSL
import Model
import Providers
import TestSupport
import Testing

@Suite("Every kind of file")
struct FileKindTests {
  static func inspect(_ kind: FileKind, _ data: Data? = nil) throws -> CertificateFile {
    try CertificateFile.inspect(
      data: data ?? kind.data, fileName: kind.fileName, password: kind.password, take: kind.take)
  }

  @Test("what the generator made is what we read, of each kind, and each refusal names its cause")
  func truth() throws {
    let kinds = try FileKinds.all()
    #expect(kinds.count >= 120 && Set(kinds.map(\.name)).count == kinds.count)
    for kind in kinds {
      do throws(FileProblem) {
        let file = try CertificateFile.inspect(
          data: kind.data, fileName: kind.fileName, password: kind.password, take: kind.take)
        #expect(Self.truth(of: file) == kind.truth, "\(kind)")
      } catch {
        #expect(error.problem.code == "file.\(kind.problem ?? "– (it should be read)")", "\(kind): \(error)")
      }
    }
  }

  private static func truth(of file: CertificateFile) -> FileKind.Truth {
    var truth = FileKind.Truth(file.kind.rawValue, role: file.role?.rawValue)
    truth.environments = file.environments.map(\.rawValue)
    truth.topics = file.topics.map(\.name)
    if file.kind == .apnsKey || file.kind.isForAPNs, file.kind == .apnsKey || !file.topics.isEmpty {
      let topics = file.kind == .apnsKey ? nil : truth.topics
      truth.types = CredentialScope(name: file.name, topics: topics).types(for: "com.x").map(\.rawValue)
    }
    truth.hasKey = file.privateKey != nil || file.keyPair != nil
    truth.notAfter = file.notAfter.map { $0.formatted(.iso8601) }
    truth.warnings = file.warnings(now: noon).map { String($0.problem.code.dropFirst("file.warning.".count)) }
    return truth
  }

  @Test("no form of what is read shows a key or a password, and no refusal does")
  func secrets() throws {
    for kind in try FileKinds.all() {
      var shown: [String] = []
      do {
        let file = try Self.inspect(kind)
        shown =
          file.lines(now: noon) + [
            JSONValue(written: CertificateFileAnswer(file, now: noon)).text(), "\(file)", String(reflecting: file),
            file.name,
          ]
        shown += file.warnings(now: noon).map { "\($0) \($0.problem)" }
        dump(file, to: &shown.dumped)
      } catch {
        shown = ["\(error)", String(reflecting: error)]
        if let problem = error as? FileProblem { shown.append("\(problem.problem)") }
      }
      for secret in kind.secrets {
        #expect(!shown.contains { $0.contains(secret) }, "\(kind) shows a secret")
      }
    }
  }

  @Test("the key that is sealed is the one in the file")
  func material() throws {
    for kind in try FileKinds.all() where kind.truth?.hasKey == true {
      let file = try Self.inspect(kind)
      if let account = file.serviceAccount {
        #expect(try ServiceAccount(material: file.material).key.publicKey == account.key.publicKey)
        #expect(try ServiceAccount(material: file.material).clientEmail == account.clientEmail)
      } else if let pair = file.keyPair {
        #expect(JPushKeyPair(material: file.material) == pair)
      } else {
        let key = try PrivateKey(pem: String(decoding: file.material, as: UTF8.self))
        #expect(key.publicKey == file.privateKey?.publicKey)
        #expect(file.certificate.map { key.matches($0) } ?? true)
      }
    }
  }

  @Test("each refusal says one cause and what to do, and is filled in")
  func remedies() throws {
    for kind in try FileKinds.all() {
      do { _ = try Self.inspect(kind) } catch let error as FileProblem {
        let text = error.problem.text
        #expect(!text.contains("{") && !text.contains("}") || kind.name.contains("lossy_token"), "\(text)")
        #expect(text.contains(". ") || text.contains("; ") || text.contains(": "), "\(text)")
        #expect(["file", "password", "take"].contains(error.problem.field))
      }
    }
  }

  @Test("the fingerprints, the serial and the algorithms are those that openssl tells")
  func facts() throws {
    let kind = try #require(try FileKinds.all().first { $0.name == "crt, PEM" })
    let openssl = try OpenSSLCommand()
    try openssl.write(kind.data, to: "c.pem")
    func told(_ option: String...) throws -> String {
      let text = String(decoding: try openssl.run(["x509", "-in", "c.pem", "-noout"] + option), as: UTF8.self)
      return String(text.split(separator: "=", maxSplits: 1).last?.dropLast() ?? "")
    }
    let summary = try #require(try Self.inspect(kind).summary)
    #expect(try summary.sha256 == told("-fingerprint", "-sha256"))
    #expect(try summary.sha1 == told("-fingerprint", "-sha1"))
    #expect(try summary.serial == told("-serial"))
    #expect(summary.keyAlgorithm == "EC P-256 (prime256v1)")
    #expect(summary.signatureAlgorithm == "ecdsa-with-SHA256")
  }
}

extension [String] {
  /// What `dump` writes, as one more text.
  fileprivate var dumped: String {
    get { "" }
    set { append(newValue) }
  }
}
