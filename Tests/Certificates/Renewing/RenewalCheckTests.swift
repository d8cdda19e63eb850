import Foundation
import Model
import TestSupport
import Testing

@testable import Certificates
@testable import Store

@Suite("A successor against what it is to replace")
struct RenewalCheckTests {
  private static let now = Date(timeIntervalSince1970: 1_795_176_000)

  private static func certificate(
    _ change: (inout RenewalSubject) -> Void = { _ in }
  ) -> RenewalSubject {
    var subject = RenewalSubject(
      kind: .apnsCertificate, name: "Apple Push Services: com.example.shop",
      topics: [
        "com.example.shop": ["app"], "com.example.shop.voip": ["voip"],
        "com.example.shop.complication": ["complication"],
      ],
      environments: [.development, .production], teamID: "TEAM123456", sha256: "AA", publicKey: Data([1]),
      notBefore: now - 86_400 * 380, notAfter: now + 86_400 * 12)
    change(&subject)
    return subject
  }

  private static func successor(_ change: (inout RenewalSubject) -> Void = { _ in }) -> RenewalSubject {
    certificate { subject in
      subject.sha256 = "BB"
      subject.publicKey = Data([2])
      subject.notBefore = now - 3600
      subject.notAfter = now + 86_400 * 395
      change(&subject)
    }
  }

  private static func key(_ change: (inout RenewalSubject) -> Void = { _ in }) -> RenewalSubject {
    var subject = RenewalSubject(
      kind: .apnsKey, name: "AuthKey_ABCDE12345", environments: [.development, .production], teamID: "TEAM123456",
      sha256: "CC")
    change(&subject)
    return subject
  }

  private static func account(_ kind: CertificateKind, _ name: String, sha256: String = "AA") -> RenewalSubject {
    RenewalSubject(kind: kind, name: name, account: name, sha256: sha256)
  }

  private static func use(_ environment: Model.Environment, devices: Int = 7) -> TrackedCertificate.Use {
    TrackedCertificate.Use(
      credentialID: 1, appID: 1, bundleID: "com.example.shop", provider: .apns, environment: environment,
      lastAcceptedAt: nil, activeDevices: devices)
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var old = RenewalCheckTests.certificate()
    var new = RenewalCheckTests.successor()
    var uses: [TrackedCertificate.Use] = [RenewalCheckTests.use(.production)]
    var warnings: [FileWarning] = []
    let expected: [String]
  }

  private static let cases: [Case] = [
    Case(testDescription: "as it should be", expected: ["fine renewal.topic_kept", "fine renewal.longer"]),
    Case(
      testDescription: "a day longer", new: successor { $0.notAfter = now + 86_400 * 13 },
      expected: ["fine renewal.topic_kept", "fine renewal.longer"]),
    Case(testDescription: "the same file", new: certificate(), expected: ["stop renewal.same_file"]),
    Case(
      testDescription: "another topic, with devices",
      new: successor { $0.topics = ["com.example.other": ["app"]] }, expected: ["stop renewal.other_topic"]),
    Case(
      testDescription: "another topic, that nobody sends to",
      new: successor { $0.topics = ["com.example.other": ["app"]] },
      uses: [], expected: ["stop renewal.other_topic"]),
    Case(
      testDescription: "a topic that only begins like it",
      new: successor { $0.topics = ["com.example.shopping": ["app"]] }, expected: ["stop renewal.other_topic"]),
    Case(
      testDescription: "topics besides the app's own are lost",
      new: successor { $0.topics = ["com.example.shop": ["app"]] },
      expected: ["warn renewal.topic_lost", "warn renewal.topic_lost", "fine renewal.longer"]),
    Case(
      testDescription: "a kind of push is lost",
      old: certificate { $0.topics = ["com.example.shop": ["app", "voip"]] },
      new: successor { $0.topics = ["com.example.shop": ["app"]] },
      expected: ["warn renewal.types_lost", "fine renewal.topic_kept", "fine renewal.longer"]),
    Case(
      testDescription: "another team", new: successor { $0.teamID = "OTHER12345" },
      expected: ["warn renewal.other_team", "fine renewal.longer"]),
    Case(
      testDescription: "an environment that is in use is lost", new: successor { $0.environments = [.development] },
      expected: ["stop renewal.environment_used"]),
    Case(
      testDescription: "an environment that nobody uses is lost", new: successor { $0.environments = [.production] },
      expected: ["warn renewal.environment_lost", "fine renewal.topic_kept", "fine renewal.longer"]),
    Case(
      testDescription: "the same key", new: successor { $0.publicKey = Data([1]) },
      expected: ["warn renewal.same_key", "fine renewal.topic_kept", "fine renewal.longer"]),
    Case(
      testDescription: "no private key", new: successor { $0.hasPrivateKey = false },
      expected: ["stop renewal.no_private_key"]),
    Case(
      testDescription: "expired", new: successor { $0.notAfter = now - 1 },
      expected: ["stop renewal.expired"]),
    Case(
      testDescription: "not yet valid, and needed", new: successor { $0.notBefore = now + 86_400 },
      expected: ["stop renewal.not_yet_valid"]),
    Case(
      testDescription: "not yet valid, and not needed", new: successor { $0.notBefore = now + 86_400 }, uses: [],
      expected: ["warn renewal.not_yet_valid", "fine renewal.topic_kept", "fine renewal.longer"]),
    Case(
      testDescription: "ends earlier", new: successor { $0.notAfter = now + 86_400 * 11 },
      expected: ["warn renewal.ends_earlier", "fine renewal.topic_kept"]),
    Case(
      testDescription: "a key for a certificate", new: key(), expected: ["warn renewal.to_key", "fine renewal.forever"]),
    Case(
      testDescription: "a certificate for a key", old: key(), new: successor(),
      expected: ["warn renewal.from_key", "fine renewal.topic_kept"]),
    Case(
      testDescription: "a certificate of another app for a key", old: key(),
      new: successor { $0.topics = ["com.example.other": ["app"]] },
      expected: ["stop renewal.other_topic", "warn renewal.from_key"]),
    Case(
      testDescription: "a key of another team", old: key(),
      new: key {
        $0.sha256 = "DD"; $0.teamID = "OTHER12345"
      },
      expected: ["warn renewal.other_team", "fine renewal.forever"]),
    Case(
      testDescription: "a service account of the same project",
      old: account(.fcmServiceAccount, "shop-1a2b3"), new: account(.fcmServiceAccount, "shop-1a2b3", sha256: "BB"),
      expected: ["fine renewal.forever"]),
    Case(
      testDescription: "a service account of another project",
      old: account(.fcmServiceAccount, "shop-1a2b3"), new: account(.fcmServiceAccount, "other-9z", sha256: "BB"),
      expected: ["stop renewal.other_project"]),
    Case(
      testDescription: "a service account of another project, which nobody sends with",
      old: account(.fcmServiceAccount, "shop-1a2b3"), new: account(.fcmServiceAccount, "other-9z", sha256: "BB"),
      uses: [], expected: ["stop renewal.other_project"]),
    Case(
      testDescription: "JPush keys with another secret",
      old: account(.jpushKeyPair, "0123"), new: account(.jpushKeyPair, "0123", sha256: "BB"),
      expected: ["fine renewal.forever"]),
    Case(
      testDescription: "JPush keys of another AppKey",
      old: account(.jpushKeyPair, "0123"), new: account(.jpushKeyPair, "4567", sha256: "BB"),
      expected: ["stop renewal.other_app_key"]),
    Case(
      testDescription: "a certificate for VoIP alone",
      new: successor {
        $0.kind = .voipCertificate
        $0.topics = ["com.example.shop.voip": ["voip"]]
      }, expected: ["stop renewal.other_topic"]),
    Case(
      testDescription: "VoIP for VoIP",
      old: certificate {
        $0.kind = .voipCertificate
        $0.topics = ["com.example.shop.voip": ["voip"]]
      },
      new: successor {
        $0.kind = .voipCertificate
        $0.topics = ["com.example.shop.voip": ["voip"]]
      }, expected: ["fine renewal.topic_kept", "fine renewal.longer"]),
    Case(
      testDescription: "another kind of thing", new: successor { $0.kind = .provisioningProfile },
      expected: ["stop renewal.kind"]),
    Case(
      testDescription: "a kind that this version does not know", old: certificate { $0.kind = nil },
      expected: ["stop renewal.kind"]),
    Case(
      testDescription: "a profile of another app",
      old: certificate {
        $0.kind = .provisioningProfile; $0.topics = ["com.example.shop": ["app"]]
      },
      new: successor {
        $0.kind = .provisioningProfile; $0.topics = ["com.example.other": ["app"]]
      }, uses: [],
      expected: ["stop renewal.other_subject"]),
    Case(
      testDescription: "a host's certificate of another name",
      old: RenewalSubject(kind: .tlsCertificate, name: "push.example.com", sha256: "AA"),
      new: RenewalSubject(kind: .tlsCertificate, name: "www.example.com", sha256: "BB", notAfter: now + 1e7), uses: [],
      expected: ["warn renewal.other_subject"]),
    Case(
      testDescription: "several things at once, the gravest first",
      new: successor {
        $0.publicKey = Data([1])
        $0.environments = [.development]
        $0.teamID = "OTHER12345"
      },
      expected: ["stop renewal.environment_used", "warn renewal.other_team", "warn renewal.same_key"]),
    Case(
      testDescription: "warnings about the file itself, but none twice",
      uses: [], warnings: [.noPrivateKey, .notFromApple(issuer: "Ada")],
      expected: ["warn file.warning.not_from_apple", "fine renewal.topic_kept", "fine renewal.longer"]),
  ]

  @Test("each difference is found, and nothing else", arguments: cases)
  func table(_ test: Case) {
    let found = RenewalCheck(
      old: test.old, new: test.new, uses: test.uses, warnings: test.warnings, now: Self.now
    ).findings
    #expect(found.map { "\($0.level.rawValue) \($0.problem.code)" } == test.expected)
    #expect(found.allSatisfy { !$0.problem.text.contains("{") }, "\(found.map(\.problem.text))")
  }

  @Test(
    "another project or AppKey names both and the devices of all environments",
    arguments: [
      (CertificateKind.fcmServiceAccount, "shop-1a2b3", "other-9z"),
      (.jpushKeyPair, "0123456789abcdef01234567", "fedcba9876543210fedcba98"),
    ])
  func accounts(kind: CertificateKind, old: String, new: String) throws {
    let found = RenewalCheck(
      old: Self.account(kind, old), new: Self.account(kind, new, sha256: "BB"),
      uses: [Self.use(.production), Self.use(.development, devices: 5)], now: Self.now
    ).findings
    let text = try #require(found.first).problem.text
    #expect(text.contains(old) && text.contains(new) && text.contains("12"), "\(text)")
  }

  @Test("a different topic says whose devices get nothing, and how many")
  func words() {
    let new = Self.successor { $0.topics = ["com.example.other": ["app"]] }
    let found = RenewalCheck(
      old: Self.certificate(), new: new, uses: [Self.use(.production), Self.use(.development, devices: 5)],
      now: Self.now
    ).findings
    #expect(
      found.first?.problem.text
        == "Devices of topic com.example.shop will get nothing, because the new file is for com.example.other. Affected "
        + "devices: 12.")
  }
}
