import Console
import Foundation
import Glibc
import JSON
import Logging
import OpenSSL
import Reactor
import TestSupport
import Testing
import Text

@testable import signalbox

/// What a renewal of the server's certificate does to a server that runs.
@Suite("The server's certificate", .timeLimit(.minutes(3)))
struct ServerCertificateTests {
  /// An authority, and files that a server may be given.
  private struct Files {
    let authority: CertificateAuthority
    let folder: String

    init(_ folder: String) throws {
      self.folder = folder
      authority = try CertificateAuthority(
        subject: [.commonName("Authority")], notBefore: Date() - 86_400, notAfter: Date() + 86_400)
      try write(authority.certificate.pem, "ca.pem")
    }

    var own: TLSFiles { TLSFiles(certificate: folder + "/own.pem", key: folder + "/own.key") }

    /// As a renewal does: each file at once, one after the other.
    func issue(_ name: String) throws {
      let (certificate, key) = try authority.issue(
        CertificateBlueprint(
          subject: [.commonName(name)], notBefore: Date() - 86_400, notAfter: Date() + 86_400, alternativeNames: [name])
      )
      try write(certificate.pem, "own.pem")
      try write(key.pkcs8PEM, "own.key")
    }

    func write(_ text: String, _ name: String) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"), options: .atomic)
    }

    /// Whether a client that trusts the authority believes that the server is `name`.
    func isShown(_ name: String, at port: UInt16) async throws -> Bool {
      let child = try Child(
        [
          "curl", "-sf", "-o", "/dev/null", "--cacert", folder + "/ca.pem", "--connect-to", "::127.0.0.1:\(port)",
          "https://\(name)/healthz",
        ], in: folder, seconds: 60)
      return await child.status() == 0
    }
  }

  @Test("it is read again when its files change; files that do not fit are not taken, and the former goes on")
  func files() async throws {
    try await CommandRunner.with { box in
      let files = try Files(box.folder)
      try files.issue("a.example")
      let log = MemorySink()
      var options = Service.Options.test(box.data)
      options.tls = files.own
      options.tlsLook = .milliseconds(20)
      options.log = Logger(label: "test", sink: log)
      try await Service.with(options) { service in
        let port = service.address.port
        #expect(try await files.isShown("a.example", at: port))
        try files.issue("b.example")
        try await eventually("the new certificate is shown") { try await files.isShown("b.example", at: port) }
        #expect(try await !files.isShown("a.example", at: port))
        try files.write("nonsense", "own.key")
        try await eventually("the log says so") {
          log.entries.contains { $0.level == .error && $0.message.contains("cannot be used") }
        }
        #expect(try await files.isShown("b.example", at: port))
        try files.issue("c.example")
        try await eventually("the next good one is shown") { try await files.isShown("c.example", at: port) }
      }
    }
  }

  @Test("signalbox health asks the server of a data folder, over TLS too, and fails once it has ended")
  func health() async throws {
    try await CommandRunner.with { box in
      let never = await box.run("health")
      #expect(never.code == 1 && never.errors.contains("no server has been started there"), "\(never)")
      let files = try Files(box.folder)
      try files.issue("push.example.com")
      for tls in [nil, files.own] {
        var options = Service.Options.test(box.data)
        options.tls = tls
        try await Service.with(options) { _ in
          let ready = await box.run("health")
          #expect(ready.code == 0 && ready.output == "ready\n", "\(ready)")
          let json = await box.run("health", "--json")
          #expect(json.json?["ready"]?.bool == true && json.json?["url"]?.string?.hasPrefix("http") == true, "\(json)")
        }
        let gone = await box.run("health")
        #expect(gone.code == 1 && gone.output.contains("cannot be reached"), "\(gone)")
      }
    }
  }

  @Test("a file that is missing is named with its option and the cause")
  func missing() {
    let files = TLSFiles(certificate: "/none/own.pem", key: "/none/own.key")
    let failure = #expect(throws: CommandFailure.self) { _ = try files.load() }
    #expect(failure?.description == "--tls-certificate: /none/own.pem: No such file or directory")
  }

  @Test("files count as changed once another user may read them")
  func permissions() async throws {
    try await CommandRunner.with { box in
      let files = try Files(box.folder)
      try files.issue("a.example")
      try #require(chmod(files.own.key, 0o600) == 0)
      let before = files.own.stamp
      #expect(files.own.stamp == before)
      try #require(chmod(files.own.key, 0o640) == 0)
      #expect(files.own.stamp != before)
    }
  }

  @Test("SIGHUP has it read at once, and never ends the server", arguments: [true, false])
  func hangup(hasTLS: Bool) async throws {
    try await CommandRunner.with { box in
      let files = try Files(box.folder)
      try files.issue("a.example")
      let options = hasTLS ? ["--tls-certificate", files.own.certificate, "--tls-key", files.own.key] : []
      let child = try Child(
        [try Child.signalbox(), "serve", "--data", box.data, "--listen", "127.0.0.1:0"] + options, in: box.folder)
      try await eventually("signalbox serve listens") {
        guard child.isRunning else { throw SceneError("serve ended: \(child.errorText)") }
        return child.errorText.contains("listening")
      }
      for round in 1...2 {
        child.send(SIGHUP)
        let words = hasTLS ? "reloaded the TLS certificate" : "nothing to reload"
        try await eventually("the log says so") {
          guard child.isRunning else { throw SceneError("serve ended: \(child.errorText)") }
          return child.errorText.components(separatedBy: words).count == round + 1
        }
      }
      child.send(SIGTERM)
      #expect(await child.status() == 0)
    }
  }

  @Test("a self-signed certificate is warned of, at the start and by doctor; one of an authority is not")
  func selfSigned() async throws {
    try await CommandRunner.with { box in
      let files = try Files(box.folder)
      try files.issue("localhost")
      #expect(files.own.warning == nil)
      #expect(await box.run("apps", "add", "com.example.shop", "--name", "Shop").code == 0)
      let environment = ["SIGNALBOX_TLS_CERTIFICATE": files.own.certificate]
      #expect(await box.run("doctor", environment: environment).output.contains("own.pem is valid until"))
      try files.write(files.authority.certificate.pem, "own.pem")
      #expect(files.own.warning?.description.contains("is self-signed") == true)
      let doctor = await box.run("doctor", environment: environment)
      #expect(doctor.output.contains("own.pem is self-signed") && doctor.output.contains("Let's Encrypt"))
      try files.write("nothing", "own.pem")
      let none = await box.run("doctor", environment: environment)
      #expect(none.code == 1 && none.output.contains("own.pem"))
      #expect(await !box.run("doctor").output.contains("server certificate"))
    }
  }
}
