import Foundation

extension FileKindMaker {
  /// What Apple's extensions say, against names that say something else; and names where there is no extension.
  func roles() throws -> [FileKind] {
    func role(
      _ name: String, cn: String, _ extensions: [String], sections: String = "", _ truth: FileKind.Truth,
      _ change: (inout FileKind.Truth) -> Void
    ) throws -> FileKind {
      var truth = truth
      truth.notAfter = Self.end
      change(&truth)
      let pem = try certificate(
        "/UID=com.x/CN=\(cn)/OU=TEAM123456/O=Example/C=US", extensions: extensions, sections: sections)
      return kind("role: \(name)", Data((pem + key).utf8), "cert.pem", .read(truth))
    }
    let push = FileKind.Truth("apns_certificate", role: "push")
    let voip = FileKind.Truth("voip_certificate", role: "voip")
    func apple(_ role: String) -> FileKind.Truth { .init("apple_certificate", role: role) }
    let plain: (inout FileKind.Truth) -> Void = {
      $0.topics = ["com.x"]
      $0.types = ["alert", "background"]
    }
    let voipTopics = Self.topics([("com.x.voip", "voip")], oid: 4)
    let appTopics = Self.topics([("com.y", "app"), ("com.y.push-type.liveactivity", "liveactivity")])
    func signing(_ change: inout FileKind.Truth) {
      change.environments = []
      change.warnings = ["signing_instead_of_push"]
    }
    return [
      try role("development only", cn: "Apple Development IOS Push Services: com.x", Self.marks("6.3.1"), push) {
        plain(&$0)
        $0.environments = ["development"]
      },
      try role("production only", cn: "Apple Production IOS Push Services: com.x", Self.marks("6.3.2"), push) {
        plain(&$0)
        $0.environments = ["production"]
      },
      try role(
        "the name says development, the mark production", cn: "Apple Development IOS Push Services: com.x",
        Self.marks("6.3.2"), push
      ) {
        plain(&$0)
        $0.environments = ["production"]
      },
      try role("without extensions", cn: "Apple Push Services: com.x", [], push, plain),
      try role(
        "VoIP with its list", cn: "VoIP Services: com.x", Self.marks("6.3.3") + voipTopics.extensions,
        sections: voipTopics.sections, voip
      ) {
        $0.topics = ["com.x.voip"]
        $0.types = ["voip"]
      },
      try role("VoIP with marks alone", cn: "VoIP Services: com.x", Self.marks("6.3.1", "6.3.2", "6.3.3"), voip) {
        $0.topics = ["com.x.voip"]
        $0.types = ["voip"]
      },
      try role("VoIP by its marks under another name", cn: "Anything", Self.marks("6.3.3", "6.3.5"), voip) {
        $0.topics = ["com.x.voip"]
        $0.types = ["voip"]
      },
      try role(
        "the name says VoIP, the extensions push", cn: "VoIP Services: com.x", Self.marks("6.3.1", "6.3.2"), push, plain
      ),
      try role(
        "the list names another app than the subject", cn: "Apple Push Services: com.x",
        Self.marks("6.3.1") + appTopics.extensions, sections: appTopics.sections, push
      ) {
        $0.topics = ["com.y", "com.y.push-type.liveactivity"]
        $0.environments = ["development"]
      },
      try role("a damaged list", cn: "Apple Push Services: com.x", Self.marks("6.3.2", "6.3.6"), push) {
        $0.environments = ["production"]
        $0.warnings = ["topic_list"]
      },
      try role(
        "signs builds, by its extension", cn: "Apple Push Services: com.x", Self.marks("6.1.4"),
        apple("distribution_signing")
      ) { signing(&$0) },
      try role(
        "signs builds, by its name", cn: "Apple Distribution: Example (TEAM123456)", [], apple("distribution_signing")
      ) { signing(&$0) },
      try role(
        "signs for development", cn: "iPhone Developer: Lin (ABCDE12345)", Self.marks("6.1.2"),
        apple("development_signing")
      ) { signing(&$0) },
      try role("passes", cn: "Pass Type ID: pass.com.x", Self.marks("6.3.2", "6.1.16"), apple("pass_type")) {
        $0.topics = ["com.x"]
        $0.environments = ["production"]
        $0.warnings = ["other_purpose"]
      },
      try role("website", cn: "Website Push ID: web.com.x", Self.marks("6.3.2"), apple("website_push")) {
        $0.topics = ["com.x"]
        $0.environments = ["production"]
        $0.warnings = ["other_purpose"]
      },
      try role("device management", cn: "APSP:7C5B3A1E-0000-4000-8000-000000000001", [], apple("device_management")) {
        $0.topics = ["com.x"]
        $0.environments = ["production"]
        $0.warnings = ["other_purpose"]
      },
      try role("a host", cn: "www.example.com", [], .init("tls_certificate", role: "other")) { $0.environments = [] },
    ]
  }

  /// Several certificates in one file, and certificates without what belongs to them.
  func wrongContents() throws -> [FileKind] {
    let pem = try certificate()
    let later = try certificate(to: "20281031235959Z")
    let list = Self.topics([("com.y", "app")])
    let other = try certificate(
      "/UID=com.y/CN=Apple Push Services: com.y/OU=TEAM123456/O=Example/C=US",
      extensions: Self.marks("6.3.1", "6.3.2") + list.extensions, sections: list.sections)
    let signing = try certificate(
      "/CN=Apple Distribution: Example (TEAM123456)/O=Example/C=US", extensions: Self.marks("6.1.4"), sections: "")
    let foreign = String(
      decoding: try openssl("genpkey", "-algorithm", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"), as: UTF8.self)
    try openssl.write(Data(other.utf8), to: "s.pem")
    let serial = String(decoding: try openssl("x509", "-in", "s.pem", "-noout", "-serial"), as: UTF8.self).dropFirst(
      "serial=".count
    ).dropLast()
    func text(_ name: String, _ text: String, _ outcome: FileKind.Outcome, take: String? = nil) -> FileKind {
      kind(name, Data(text.utf8), "all.pem", outcome, take: take, more: secrets(foreign))
    }
    try openssl.write(Data(foreign.utf8), to: "f.pem")
    return [
      text(
        "the one that ends last", pem + later + key,
        Self.push {
          $0.notAfter = "2028-10-31T23:59:59Z"
          $0.warnings = ["several_certificates.ends_last"]
        }),
      text(
        "the only one for push", signing + pem + key, Self.push { $0.warnings = ["several_certificates.only_for_push"] }
      ),
      text(
        "the only one with its key", try certificate("/CN=x", extensions: [], sections: "", key: "f.pem") + pem + key,
        Self.push { $0.warnings = ["several_certificates.only_with_key"] }),
      text("two topics", pem + other + key, .refused("several_certificates")),
      text(
        "two topics, one asked for", pem + other + key,
        Self.push {
          $0.topics = ["com.y"]
          $0.types = []
          $0.warnings = ["several_certificates.asked"]
        }, take: String(serial)),
      text("one asked for that is not there", pem + other + key, .refused("no_such_certificate"), take: "ABBA"),
      text("a foreign key", pem + foreign, .refused("key_does_not_match")),
      text("cut in its key", pem + String(key.dropLast(40)), .refused("truncated")),
      kind("p12, cut", try p12(pem, password: "x").dropLast(100), "push.p12", .refused("truncated"), password: "x"),
      kind("empty", Data(), "push.p12", .refused("empty")),
      kind("5 MB", Data(repeating: 0x30, count: 5_000_000), "push.p12", .refused("too_large")),
      text("a hundred certificates", String(repeating: pem, count: 100), .refused("too_many_parts")),
    ]
  }
}
