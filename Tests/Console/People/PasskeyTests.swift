import Foundation
import HTTPServer
import JSON
import OpenSSL
import SQLite
import Store
import TestSupport
import Testing

@testable import Console

/// An authenticator made of the command `openssl`, for one algorithm.
private struct Device {
  enum Kind: String, CaseIterable { case es256, eddsa, rs256 }

  let kind: Kind
  let folder: URL
  /// The COSE key.
  let key: [UInt8]
  let credential = Array("credential of the test".utf8)

  init(_ kind: Kind, in folder: URL) throws {
    (self.kind, self.folder) = (kind, folder)
    let options =
      switch kind {
      case .es256: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
      case .eddsa: ["-algorithm", "ed25519"]
      case .rs256: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
      }
    try Self.run(["genpkey"] + options + ["-out", folder.path + "/key.pem"])
    try Self.run(["pkey", "-in", folder.path + "/key.pem", "-pubout", "-outform", "DER", "-out", folder.path + "/pub"])
    let der = Array(try Data(contentsOf: folder.appendingPathComponent("pub")))
    switch kind {
    case .es256:
      let (x, y) = (Array(der.suffix(64).prefix(32)), Array(der.suffix(32)))
      key = [0xA5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32] + x + [0x22, 0x58, 32] + y
    case .eddsa: key = [0xA4, 1, 1, 3, 0x27, 0x20, 6, 0x21, 0x58, 32] + der.suffix(32)
    case .rs256:
      // The modulus of 256 bytes stands before the exponent 65537, in five bytes.
      let modulus = Array(der.suffix(261).prefix(256))
      key = [0xA4, 1, 3, 3, 0x39, 1, 0, 0x20, 0x59, 1, 0] + modulus + [0x21, 0x43, 1, 0, 1]
    }
  }

  private static func run(_ arguments: [String]) throws { try OtherProgram.runNow("openssl", arguments) }

  func sign(_ message: [UInt8]) throws -> [UInt8] {
    let (file, signature) = (folder.path + "/message", folder.path + "/signature")
    try Data(message).write(to: URL(fileURLWithPath: file))
    let digest = kind == .eddsa ? [] : ["-digest", "sha256"]
    try Self.run(
      ["pkeyutl", "-sign", "-rawin", "-inkey", folder.path + "/key.pem", "-in", file, "-out", signature] + digest)
    return Array(try Data(contentsOf: URL(fileURLWithPath: signature)))
  }

  func data(site: String = "localhost", flags: UInt8 = 0x05, counter: UInt8 = 1, attested: Bool = false) -> [UInt8] {
    let head = Digest.sha256(Array(site.utf8)) + [attested ? flags | 0x40 : flags, 0, 0, 0, counter]
    guard attested else { return head }
    return head + [UInt8](repeating: 0, count: 16) + [0, UInt8(credential.count)] + credential + key
  }

  /// The attestation object with this authenticator data.
  func attestation(_ data: [UInt8]) -> [UInt8] {
    [0xA3, 0x63] + Array("fmt".utf8) + [0x64] + Array("none".utf8) + [0x67] + Array("attStmt".utf8) + [0xA0, 0x68]
      + Array("authData".utf8) + [0x59, UInt8(data.count >> 8), UInt8(data.count & 255)] + data
  }

  func clientData(_ type: String, _ challenge: String, origin: String = "http://localhost:8080") -> [UInt8] {
    Array(#"{"type":"\#(type)","challenge":"\#(challenge)","origin":"\#(origin)","crossOrigin":false}"#.utf8)
  }

  /// What the script fills in at sign-in.
  func fields(_ data: [UInt8], _ client: [UInt8], handle: [UInt8]) throws -> [(String, String)] {
    let signature = try sign(data + Digest.sha256(client))
    return [
      ("passkey", credential), ("client_data", client), ("authenticator_data", data), ("signature", signature),
      ("user_handle", handle),
    ].map { ($0.0, Base64URL.encode($0.1)) }
  }
}

@Suite("Passkeys")
struct PasskeyTests {
  private func with(_ kind: Device.Kind, _ body: (Device) async throws -> Void) async throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    try await body(try Device(kind, in: folder))
  }

  private func challenge(_ browser: inout SceneBrowser) async throws -> String {
    let answer = try await browser.get("/session/passkey")
    #expect(answer.json?["relying_party"] == "localhost")
    return try #require(answer.json?["challenge"]?.string)
  }

  private func register(_ device: Device, _ browser: inout SceneBrowser) async throws -> SceneAnswer {
    let client = device.clientData("webauthn.create", try await challenge(&browser))
    return try await browser.post(
      "/account/passkeys",
      [
        ("name", "Laptop"), ("attested_data", Base64URL.encode(client)),
        ("attestation", Base64URL.encode(device.attestation(device.data(attested: true)))),
      ])
  }

  @Test(
    "a passkey of each algorithm is added, signs in without password and code, and confirms",
    arguments: Device.Kind.allCases)
  private func whole(kind: Device.Kind) async throws {
    try await with(kind) { device in
      try await ConsoleScene.with { scene in
        var anna = try await scene.signIn(.admin)
        #expect(try await register(device, &anna).location == "/account")
        let known = try await register(device, &anna)
        #expect(known.status == 422 && known.text.contains("already registered"))
        #expect(try await anna.get("/account").text.contains("Laptop"))
        let passkey = try #require(try await scene.store.read { try Passkey.find($0, credential: device.credential) })
        let handle = withUnsafeBytes(of: passkey.userID.bigEndian) { Array($0) }

        var guest = try await SignInTests.guest(scene)
        let client = device.clientData("webauthn.get", try await challenge(&guest))
        let fields = try device.fields(device.data(counter: 2), client, handle: handle)
        let entered = try await guest.post("/session", fields + [("return", "/pushes")])
        #expect(entered.status == 303 && entered.location == "/pushes")
        #expect(try await guest.get("/").text.contains("admin@example.com"))
        #expect(try await scene.audit("session.open").first?.detail?["with"] == "passkey")
        var thief = try await SignInTests.guest(scene)
        #expect(try await thief.post("/session", fields).status == 422, "neither challenge nor counter are good again")

        scene.clock.advance(900)
        let proof = device.clientData("webauthn.get", try await challenge(&anna))
        let form = [("name", "script"), ("scopes", "read"), ("expires", "30d"), ("reach", "all")]
        #expect(try await anna.post("/settings/tokens", form).text.contains("data-passkey=\"get\""))
        let done = try await anna.post(
          "/settings/tokens", form + (try device.fields(device.data(counter: 3), proof, handle: handle)))
        #expect(done.status == 200 && done.text.contains("sbx_"))
        #expect(try await anna.post("/account/passkeys/\(passkey.id)/remove").status == 303)
        #expect(try await scene.store.read { try Passkey.find($0, credential: device.credential) } == nil)
      }
    }
  }

  @Test("a sign-in by passkey forgives guesses of its own account alone, none that its address made at others")
  func guesses() async throws {
    try await with(.es256) { device in
      try await ConsoleScene.with { scene in
        var anna = try await scene.signIn(.admin)
        #expect(try await register(device, &anna).location == "/account")
        let id = try #require(try await scene.store.read { try Passkey.find($0, credential: device.credential) }).userID
        let handle = withUnsafeBytes(of: id.bigEndian) { Array($0) }
        var checked = 0
        for round in 0..<60 {
          if round % 4 == 3, checked < 20 {
            var guest = try await SignInTests.guest(scene, address: "192.0.2.1")
            let client = device.clientData("webauthn.get", try await challenge(&guest))
            let fields = try device.fields(device.data(counter: UInt8(2 + round)), client, handle: handle)
            #expect(try await guest.post("/session", fields).status == 303)
          }
          var other = try await SignInTests.guest(scene, address: "192.0.2.1")
          let answer = try await SignInTests.attempt(&other, "user\(round)@example.com", "wrong")
          if answer.status == 422 { checked += 1 }
        }
        #expect(checked == 20)
        let name = "admin@example.com"
        scene.clock.advance(900)
        try await scene.store.write { database in
          for subject in [SignInFailures.Subject.account(name), .account("ben@example.com")] {
            try SignInFailures.add(database, subject, window: 900, now: scene.clock.now)
          }
        }
        var guest = try await SignInTests.guest(scene, address: "192.0.2.1")
        let client = device.clientData("webauthn.get", try await challenge(&guest))
        let fields = try device.fields(device.data(counter: 100), client, handle: handle)
        #expect(try await guest.post("/session", fields).status == 303)
        let now = scene.clock.now
        let left = try await scene.store.read { database in
          try ["admin@example.com", "ben@example.com"].map {
            try SignInFailures.find(database, .account($0), window: 900, now: now).count
          }
        }
        #expect(left == [0, 1])
      }
    }
  }

  @Test("where a second step is required, a passkey lets in and confirms, and the password alone does neither")
  func required() async throws {
    try await with(.es256) { device in
      try await ConsoleScene.with { scene in
        var anna = try await scene.signIn(.admin)
        try await scene.requireSecondStep(.admins)
        #expect(try await anna.get("/account").location?.hasPrefix("/session/second-step") == true)
        let refused = try await anna.post("/account/passkeys", [("attestation", "AA")])
        #expect(refused.status == 422 && refused.text.contains("Two-step verification is required"))
        #expect(try await register(device, &anna).location == "/account")
        #expect(try await anna.get("/account").status == 200, "adding it counts")

        var guest = try await SignInTests.guest(scene)
        let typed = [("email", "admin@example.com"), ("password", ConsoleScene.password)]
        #expect(try await guest.post("/session", typed).status == 303)
        let held = try await guest.get("/session/second-step?return=/pushes")
        #expect(held.text.contains("data-passkey=\"get\"") && !held.text.contains("proof_code"))
        guest.csrf = try #require(ScenePage(held).values("csrf").first)
        let again = try await register(device, &guest)
        #expect(again.location?.hasPrefix("/session/second-step") == true, "no second passkey with the password alone")
        let id = try #require(try await scene.store.read { try User.find($0, name: "admin@example.com") }).id
        let handle = withUnsafeBytes(of: id.bigEndian) { Array($0) }
        let client = device.clientData("webauthn.get", try await challenge(&guest))
        let shown = try device.fields(device.data(counter: 2), client, handle: handle) + [("return", "/pushes")]
        #expect(try await guest.post("/session/second-step", shown).location == "/pushes")
        #expect(try await guest.get("/pushes").status == 200)

        scene.clock.advance(900)
        let password = try await guest.post("/session/confirm", [("proof", ConsoleScene.password)])
        #expect(password.status == 422 && password.text.contains("use your passkey"))
      }
    }
  }

  @Test("what is made for another site, late, unverified, signed by another, or copied is refused")
  func refused() async throws {
    try await with(.es256) { device in
      let tickets = Tickets()
      let noon = ConsoleScene.noon
      let key = try PasskeyCeremony(origin: "http://localhost:8080", relyingParty: "localhost") { _ in true }
        .registration(
          attestation: device.attestation(device.data(attested: true)),
          clientData: device.clientData("webauthn.create", "x")
        ).key

      func outcome(
        _ data: [UInt8], _ client: [UInt8], now: Date = noon, counter: UInt32 = 0, spoiled: Bool = false
      ) throws -> PasskeyCeremony.Refusal? {
        let ceremony = PasskeyCeremony(origin: "http://localhost:8080", relyingParty: "localhost") {
          tickets.redeem($0, "passkey", now: now)
        }
        var signature = try device.sign(data + Digest.sha256(client))
        if spoiled { signature[signature.count - 1] ^= 1 }
        do {
          _ = try ceremony.assertion(
            authenticatorData: data, clientData: client, signature: signature, key: key, counter: counter)
          return nil
        } catch { return error }
      }
      func ticket() -> String { tickets.make("passkey", now: noon) }
      func client(_ origin: String = "http://localhost:8080", type: String = "webauthn.get") -> [UInt8] {
        device.clientData(type, ticket(), origin: origin)
      }
      let used = client()
      #expect(try outcome(device.data(), used) == nil)
      #expect(try outcome(device.data(counter: 2), used) == .late)
      #expect(try outcome(device.data(), client("http://localhost:9090")) == .elsewhere)
      #expect(try outcome(device.data(), client("https://evil.example")) == .elsewhere)
      #expect(try outcome(device.data(), client(type: "webauthn.create")) == .elsewhere)
      #expect(try outcome(device.data(site: "evil.example"), client()) == .elsewhere)
      #expect(try outcome(device.data(flags: 0x01), client()) == .unverified)
      #expect(try outcome(device.data(), client(), spoiled: true) == .signature)
      #expect(try outcome(device.data(), client(), now: noon + 301) == .late)
      #expect(try outcome(device.data(), device.clientData("webauthn.get", "bm9uZQ")) == .late)
      #expect(try outcome(device.data(counter: 5), client(), counter: 5) == .copied)
      #expect(try outcome(device.data(counter: 0), client(), counter: 0) == nil, "some devices do not count")
      #expect(try outcome([1, 2, 3], client()) == .malformed)
      #expect(try outcome(device.data(), Array("[]".utf8)) == .malformed)
    }
  }

  @Test("a disabled person's passkey does not sign in, and another person's does not confirm")
  func people() async throws {
    try await with(.eddsa) { device in
      try await ConsoleScene.with { scene in
        var anna = try await scene.signIn(.admin)
        var ben = try await scene.signIn(.admin, name: "ben@example.com")
        #expect(try await register(device, &ben).status == 303)
        let id = try #require(try await scene.store.read { try User.find($0, name: "ben@example.com") }).id
        let handle = withUnsafeBytes(of: id.bigEndian) { Array($0) }
        scene.clock.advance(900)
        let proof = device.clientData("webauthn.get", try await challenge(&anna))
        let fields = try device.fields(device.data(counter: 2), proof, handle: handle)
        #expect(try await anna.post("/settings/people/\(id)/disable", fields).status == 422)
        let confirmed = try await anna.post("/settings/people/\(id)/disable", [("proof", ConsoleScene.password)])
        #expect(confirmed.status == 303)
        var guest = try await SignInTests.guest(scene)
        let client = device.clientData("webauthn.get", try await challenge(&guest))
        #expect(
          try await guest.post("/session", try device.fields(device.data(counter: 3), client, handle: handle)).status
            == 422)
        #expect(try await anna.post("/settings/people/\(id)/second-step/reset").status == 303)
        #expect(try await scene.store.read { try Passkey.all($0, user: id) }.isEmpty)
      }
    }
  }

  /// RFC 8949 appendix A, and what authenticators must not send (CTAP 2.1 §8).
  @Test("CBOR is read within its bytes, and nothing else is")
  func cbor() throws {
    func read(_ bytes: [UInt8]) -> CBOR? {
      var rest = bytes[...]
      guard let value = try? CBOR(reading: &rest) else { return nil }  // nil is what is expected of these
      return rest.isEmpty ? value : nil
    }
    #expect(read([0x18, 0x64]) == .integer(100) && read([0x39, 0x03, 0xE7]) == .integer(-1000))
    #expect(read([0x1B, 0, 0, 0, 0xE8, 0xD4, 0xA5, 0x10, 0]) == .integer(1_000_000_000_000))
    #expect(read([0x44, 1, 2, 3, 4]) == .bytes([1, 2, 3, 4]) && read([0x62, 0xC3, 0xBC]) == .text("ü"))
    #expect(read([0x83, 1, 0xF5, 0xF6]) == .array([.integer(1), .bool(true), .null]))
    #expect(read([0xA1, 0x61, 0x61, 0xF4])?[.text("a")] == .bool(false))
    let bad: [[UInt8]] = [
      [], [0x18], [0x44, 1, 2], [0x62, 0xFF, 0xFF], [0x9F, 0xFF], [0xC0, 0x00], [0xF9, 0, 0], [0xA1, 1],
      [0xA2, 1, 1, 1, 2], [0x9B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x5B, 0xFF, 0, 0, 0, 0, 0, 0, 0],
      [0x1B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [UInt8](repeating: 0x81, count: 9) + [0],
    ]
    for bytes in bad { #expect(read(bytes) == nil, "\(bytes)") }
  }
}
