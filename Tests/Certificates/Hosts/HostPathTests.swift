import Certificates
import Foundation
import Model
import OpenSSL
import Store
import TestSupport
import Testing

/// What a host sends is not what clients use: they build a way to an authority that they trust.
@Suite("Watched hosts: the way to an authority")
struct HostPathTests {
  /// The certificates of a small world: two roots, and an intermediate of the first, each with earlier and later ones of
  /// the same key. Days are from noon.
  struct World {
    let root: CertificateAuthority
    let other: CertificateAuthority
    let intermediate: CertificateAuthority
    let leafKey: PrivateKey

    init() throws {
      root = try CertificateAuthority(
        subject: [.commonName("Root")], notBefore: noon - 400 * day, notAfter: noon + 4000 * day)
      other = try CertificateAuthority(
        subject: [.commonName("Other Root")], notBefore: noon - 4000 * day, notAfter: noon + 4000 * day)
      let (certificate, key) = try root.issue(Self.authority("Intermediate", until: 900))
      intermediate = CertificateAuthority(certificate: certificate, key: key)
      leafKey = try PrivateKey.generateP256()
    }

    static func authority(_ name: String, until days: Double) -> CertificateBlueprint {
      CertificateBlueprint(
        subject: [.commonName(name)], notBefore: noon - 400 * day, notAfter: noon + days * day, purpose: .authority)
    }

    func leaf(by issuer: CertificateAuthority, until days: Double = 200) throws -> Certificate {
      try issuer.issue(
        CertificateBlueprint(
          subject: [.commonName("a.example")], notBefore: noon - 10 * day, notAfter: noon + days * day,
          purpose: .server, alternativeNames: ["a.example"]), for: leafKey.publicKey)
    }

    /// Another certificate of the intermediate's key.
    func intermediate(until days: Double) throws -> Certificate {
      try root.issue(Self.authority("Intermediate", until: days), for: intermediate.key.publicKey)
    }

    /// Another certificate of the root's key, from the other root.
    func cross(until days: Double) throws -> Certificate {
      try other.issue(Self.authority("Root", until: days), for: root.key.publicKey)
    }

    /// An earlier certificate of the root, of the same key.
    func root(until days: Double) throws -> Certificate {
      try CertificateAuthority.selfSigned(Self.authority("Root", until: days), key: root.key)
    }

    /// What a client that trusts the root sees.
    func seen(_ chain: [Certificate], trust: CertificateAuthority? = nil) throws -> HostSighting {
      let context = try TLSContext.server(identity: TLSIdentity(chain: chain, key: leafKey))
      let host = try ScriptedHost { $0.shakeHands(other: context) }
      defer { host.stop() }
      let authority = (trust ?? root).certificate.pem
      return try HostProbe(trust: .pem(Array(authority.utf8))).look(at: host.asked(name: "a.example")).get()
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let chain: @Sendable (World) throws -> [Certificate]
    let trust: String
    /// Days from noon.
    let end: Double
    let surplus: [Bool]
    let findings: [String]
  }

  private static func made(
    _ name: String, trust: String = "trusted", end: Double, surplus: [Bool], findings: [String] = [],
    _ chain: @escaping @Sendable (World) throws -> [Certificate]
  ) -> Case {
    Case(testDescription: name, chain: chain, trust: trust, end: end, surplus: surplus, findings: findings)
  }

  private static let hint = "hint host.finding.surplus_expired"
  private static let expired = "error host.finding.expired"

  private static let cases: [Case] = [
    made("only what is needed", end: 200, surplus: [false, false]) { [try $0.leaf(by: $0.root), $0.root.certificate] },
    made("an expired cross certificate of the authority", end: 200, surplus: [false, false, true], findings: [hint]) {
      [try $0.leaf(by: $0.root), $0.root.certificate, try $0.cross(until: -5)]
    },
    made("the expired one first", end: 200, surplus: [false, true, false], findings: [hint]) {
      [try $0.leaf(by: $0.root), try $0.cross(until: -5), $0.root.certificate]
    },
    made("a cross certificate that still lasts", end: 200, surplus: [false, true]) {
      [try $0.leaf(by: $0.root), try $0.cross(until: 50)]
    },
    made(
      "a chain of the other root, which has expired", end: 200, surplus: [false, false, true, true], findings: [hint]
    ) {
      [
        try $0.leaf(by: $0.intermediate), $0.intermediate.certificate, try $0.cross(until: -5), $0.other.certificate,
      ]
    },
    made("an earlier intermediate of the same key", end: 200, surplus: [false, true, false], findings: [hint]) {
      [try $0.leaf(by: $0.intermediate), try $0.intermediate(until: -5), $0.intermediate.certificate]
    },
    made("two intermediates of the same key, both valid", end: 200, surplus: [false, true, false]) {
      [try $0.leaf(by: $0.intermediate), try $0.intermediate(until: 20), $0.intermediate.certificate]
    },
    made("the expired root itself, besides its successor here", end: 200, surplus: [false, true], findings: [hint]) {
      [try $0.leaf(by: $0.root), try $0.root(until: -5)]
    },
    made("the wrong order", end: 200, surplus: [false, false, false]) {
      [try $0.leaf(by: $0.intermediate), $0.root.certificate, $0.intermediate.certificate]
    },
    made("somebody else's", end: 200, surplus: [false, true], findings: [hint]) { world in
      [try world.leaf(by: world.root), try world.other.issue(World.authority("Stranger", until: -5)).certificate]
    },
    made("an intermediate that is needed has expired", end: -5, surplus: [false, false], findings: [expired]) {
      [try $0.leaf(by: $0.intermediate), try $0.intermediate(until: -5)]
    },
    made(
      "a missing intermediate, and an expired cross certificate", trust: "incomplete", end: 200,
      surplus: [false, true], findings: [hint, "hint host.finding.incomplete"]
    ) { [try $0.leaf(by: $0.intermediate), try $0.cross(until: -5)] },
    made("its own certificate has expired", end: -5, surplus: [false, false], findings: [expired]) {
      [try $0.leaf(by: $0.root, until: -5), $0.root.certificate]
    },
  ]

  @Test(
    "the way that lasts longest decides when the host expires, and what is besides it is only a hint", arguments: cases)
  func paths(_ test: Case) throws {
    let world = try World()
    let seen = try world.seen(test.chain(world))
    #expect(seen.trust == test.trust && seen.notAfter == noon + test.end * day, "\(seen)")
    #expect(seen.chain.map(\.isSurplus) == test.surplus, "\(seen.chain)")
    let address = HostAddress(host: "a.example", port: 443)
    let findings = HostFinding.all(seen, of: address, now: noon)
    #expect(findings.map { "\($0.isGrave ? "error" : "hint") \($0.problem.code)" } == test.findings)
    let isRejected = findings.contains { $0.problem.text.contains("reject the host") }
    #expect(isRejected == findings.contains(where: \.isGrave), "\(findings)")
    #expect(test.trust == "trusted" || findings.last?.problem.text.contains("“a.example”") == true, "\(findings)")
  }

  @Test("a machine that does not know the authority counts the way that is still valid, too")
  func unknown() throws {
    let world = try World()
    let stranger = try CertificateAuthority(
      subject: [.commonName("Stranger")], notBefore: noon - day, notAfter: noon + day)
    let chain = [try world.leaf(by: world.root), try world.root(until: -5), world.root.certificate]
    let seen = try world.seen(chain, trust: stranger)
    #expect(seen.trust == "unknown_authority" && seen.notAfter == noon + 200 * day)
    #expect(seen.chain.map(\.isSurplus) == [false, true, false])
  }

  @Test("an authority of this machine that ends before the host's certificate does not hide the way")
  func localAuthority() throws {
    let world = try World()
    let short = CertificateAuthority(certificate: try world.root(until: 100), key: world.root.key)
    let seen = try world.seen([try world.leaf(by: world.root), try world.cross(until: -5)], trust: short)
    #expect(seen.trust == "trusted" && seen.notAfter == noon + 200 * day)
    #expect(seen.chain.map(\.isSurplus) == [false, true])
  }
}
