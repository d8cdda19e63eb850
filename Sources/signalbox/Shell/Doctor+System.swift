import Foundation
import OpenSSL
import Reactor
import SQLite
import Text

extension Doctor {
  /// The root of APNs' servers since 2025 (developer.apple.com/news/?id=09za8wzy).
  private static let root = "USERTrust RSA Certification Authority"
  /// Lower bound for the current time, before any release: 2026-11-01.
  private static let earliest = Date(timeIntervalSince1970: 1_793_491_200)

  /// Whether there is enough free space.
  func disk() -> Finding {
    if let trouble = DatabasePool.spaceTrouble(directory.path) {
      return Finding(
        subject: "disk", level: .error, message: "\(EnglishSentence(trouble.message))",
        remedy: trouble.code == .full
          ? "Free up space. The server continues on its own." : "Mount it as writable.")
    }
    return Finding(subject: "disk", level: .ok, message: "enough free space")
  }

  /// Whether the clock is plausible.
  ///
  /// - Parameter latest: the latest time in the database.
  func clock(latest: Date?) -> Finding {
    let remedy: Message = "Set the time and keep it in sync: timedatectl set-ntp true"
    if now < Self.earliest {
      return Finding(
        subject: "clock", level: .error, message: "\(now.text) is earlier than this version's release", remedy: remedy)
    }
    if let latest, latest.timeIntervalSince(now) > 60 {
      return Finding(
        subject: "clock", level: .error, message: "\(now.text) is earlier than the latest entry, \(latest.text)",
        remedy: remedy)
    }
    return Finding(subject: "clock", level: .ok, message: "\(now.text)")
  }

  /// Whether clients can trust the server's own certificate. Only the environment tells this command of it.
  func serverCertificate() -> [Finding] {
    guard let path = environment["SIGNALBOX_TLS_CERTIFICATE"], !path.isEmpty else { return [] }
    let remedy: Message = "Use a certificate from a public authority, such as Let's Encrypt."
    func finding(_ level: Finding.Level, _ message: Message, _ remedy: Message? = nil) -> [Finding] {
      [Finding(subject: "server certificate", level: level, message: message, remedy: remedy)]
    }
    guard let text = FileManager.default.contents(atPath: path) else {
      return finding(.error, "\(path) cannot be read", "Check SIGNALBOX_TLS_CERTIFICATE and the file's permissions.")
    }
    do {
      guard let own = try Certificate.pemBundle(String(decoding: text, as: UTF8.self)).first else {
        return finding(.error, "\(path) has no certificate", remedy)
      }
      if own.notAfter <= now { return finding(.error, "\(path) expired on \(own.notAfter.text)", remedy) }
      if own.isSelfSigned {
        return finding(.warning, "\(path) is self-signed: browsers warn about it, and apps refuse it", remedy)
      }
      return finding(.ok, "\(path) is valid until \(own.notAfter.text)")
    } catch {
      return finding(.error, "\(path): \(error)", remedy)
    }
  }

  /// What is trusted besides the system's authorities; empty if nothing is.
  func ownTrust() -> [Finding] {
    guard let path = proxies.trustFile else { return [] }
    func finding(_ level: Finding.Level, _ message: Message, _ remedy: Message? = nil) -> [Finding] {
      [Finding(subject: "own authorities", level: level, message: message, remedy: remedy)]
    }
    let remedy: Message = "Check --trust (SIGNALBOX_TRUST) or SSL_CERT_FILE."
    guard let text = FileManager.default.contents(atPath: path) else {
      return finding(.error, "\(path) cannot be read", remedy)
    }
    do {
      let certificates = try Certificate.pemBundle(String(decoding: text, as: UTF8.self))
      guard !certificates.isEmpty else { return finding(.error, "\(path) has no certificate", remedy) }
      if certificates.count < 20, let old = certificates.first(where: { $0.notAfter <= now }) {
        return finding(
          .warning, "\(old.subject.commonName ?? path) in \(path) expired on \(old.notAfter.text)",
          "Replace it: hosts whose certificates it issued are not trusted any more.")
      }
      return finding(
        .ok,
        Message(
          count: certificates.count,
          one: "every outgoing connection also trusts the certificate in \(path)",
          other: "every outgoing connection also trusts the \(certificates.count) certificates in \(path)"))
    } catch {
      return finding(.error, "\(path): \(error)", remedy)
    }
  }

  /// Whether the system trusts the root of APNs' certificates.
  func trustStore() -> Finding {
    let path = environment["SSL_CERT_FILE"] ?? "/etc/ssl/certs/ca-certificates.crt"
    let remedy: Message =
      "Run apt-get install --reinstall ca-certificates, or point SSL_CERT_FILE to a bundle with \(Self.root)."
    guard let text = FileManager.default.contents(atPath: path) else {
      return Finding(subject: "trust store", level: .error, message: "\(path) cannot be read", remedy: remedy)
    }
    do {
      let certificates = try Certificate.pemBundle(String(decoding: text, as: UTF8.self))
      guard let root = certificates.first(where: { $0.subject.commonName == Self.root }) else {
        return Finding(
          subject: "trust store", level: .error,
          message: Message(
            count: certificates.count, one: "\(path) has 1 certificate but not the APNs root, \(Self.root)",
            other: "\(path) has \(certificates.count) certificates but not the APNs root, \(Self.root)"),
          remedy: remedy)
      }
      guard root.notAfter > now else {
        return Finding(
          subject: "trust store", level: .error, message: "\(Self.root) in \(path) has expired", remedy: remedy)
      }
      return Finding(subject: "trust store", level: .ok, message: "\(path) has the APNs root, \(Self.root)")
    } catch {
      return Finding(subject: "trust store", level: .error, message: "\(path): \(error)", remedy: remedy)
    }
  }
}
