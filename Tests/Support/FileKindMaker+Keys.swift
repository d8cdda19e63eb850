import Foundation

extension FileKindMaker {
  /// .p8, on the right curve and on others.
  func keys() throws -> [FileKind] {
    var truth = FileKind.Truth("apns_key")
    truth.types = [
      "alert", "background", "voip", "complication", "fileprovider", "location", "liveactivity", "pushtotalk",
      "controls", "widgets",
    ]
    let named = FileKind.Outcome.read(truth)
    truth.warnings = ["key_id_unknown"]
    let unnamed = FileKind.Outcome.read(truth)
    truth.warnings = ["key_of_other_service", "key_id_unknown"]
    let foreign = FileKind.Outcome.read(truth)
    func made(_ arguments: String...) throws -> String {
      String(decoding: try openssl.run(["genpkey"] + arguments), as: UTF8.self)
    }
    func wrong(_ name: String, _ pem: String) -> FileKind {
      kind("p8, \(name)", Data(pem.utf8), "AuthKey_ABCDE12345.p8", .refused("wrong_key_kind"), more: secrets(pem))
    }
    let locked = try openssl("pkcs8", "-topk8", "-in", "key.pem", "-passout", "pass:correct horse")
    return [
      kind("p8", Data(key.utf8), "AuthKey_ABCDE12345.p8", named),
      kind("p8 without its name", Data(key.utf8), "key.p8", unnamed),
      kind("p8 of in-app purchase", Data(key.utf8), "SubscriptionKey_ABCDE12345.p8", foreign),
      kind(
        "p8, CRLF and byte order mark", Data(("\u{FEFF}" + key.replacing("\n", with: "\r\n")).utf8),
        "AuthKey_ABCDE12345.p8", named),
      kind(
        "p8, its Base64 alone", Data(key.split(separator: "\n").dropFirst().dropLast().joined().utf8),
        "AuthKey_ABCDE12345.p8", named),
      kind(
        "p8, DER", try openssl("pkcs8", "-topk8", "-nocrypt", "-in", "key.pem", "-outform", "DER"),
        "AuthKey_ABCDE12345.p8", named),
      kind("p8, SEC 1", try openssl("ec", "-in", "key.pem"), "AuthKey_ABCDE12345.p8", named),
      kind("p8, encrypted", locked, "AuthKey_ABCDE12345.p8", named, password: "correct horse"),
      kind("p8, encrypted, no password", locked, "AuthKey_ABCDE12345.p8", .refused("password_needed")),
      wrong("P-384", try made("-algorithm", "ec", "-pkeyopt", "ec_paramgen_curve:secp384r1")),
      wrong("P-521", try made("-algorithm", "ec", "-pkeyopt", "ec_paramgen_curve:secp521r1")),
      wrong("secp256k1", try made("-algorithm", "ec", "-pkeyopt", "ec_paramgen_curve:secp256k1")),
      wrong("RSA", try openssl.text("rsa.pem")), wrong("Ed25519", try made("-algorithm", "ed25519")),
      kind("an RSA key alone", try openssl.data("rsa.pem"), "key.pem", .refused("no_certificate")),
    ]
  }

  static func profile(
    aps: String?, appID: String = "TEAM123456.com.x", end: String = "2027-11-01T00:00:00Z", more: String = ""
  ) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0"><dict>
    <key>CreationDate</key><date>2026-11-01T00:00:00Z</date>
    <key>Entitlements</key><dict>
    <key>application-identifier</key><string>\(appID)</string>
    \(aps.map { "<key>aps-environment</key><string>\($0)</string>" } ?? "")
    <key>get-task-allow</key><true/>
    <key>keychain-access-groups</key><array><string>TEAM123456.*</string></array>
    </dict>
    <key>ExpirationDate</key><date>\(end)</date>
    <key>Name</key><string>Shop</string>
    <key>TeamIdentifier</key><array><string>TEAM123456</string></array>
    <key>UUID</key><string>7C5B3A1E-0000-4000-8000-000000000001</string>
    \(more)</dict></plist>
    """
  }

  func signed(_ content: String) throws -> Data {
    try openssl.write(
      Data(try certificate("/CN=Apple iPhone OS Provisioning Profile Signing", extensions: [], sections: "").utf8),
      to: "signer.pem")
    try openssl.write(Data(content.utf8), to: "content")
    return try openssl(
      "cms", "-sign", "-nodetach", "-binary", "-in", "content", "-signer", "signer.pem", "-inkey", "key.pem",
      "-outform", "DER")
  }

  /// .mobileprovision.
  func profiles() throws -> [FileKind] {
    func profile(_ name: String, _ xml: String, _ change: (inout FileKind.Truth) -> Void) throws -> FileKind {
      var truth = FileKind.Truth("provisioning_profile")
      truth.topics = ["com.x"]
      truth.hasKey = false
      truth.notAfter = "2027-11-01T00:00:00Z"
      change(&truth)
      return kind("profile, \(name)", try signed(xml), "x.mobileprovision", .read(truth))
    }
    func refused(_ name: String, _ content: String, _ code: String = "not_a_profile") throws -> FileKind {
      kind("profile, \(name)", try signed(content), "x.mobileprovision", .refused(code))
    }
    let bomb =
      "<?xml version=\"1.0\"?><!DOCTYPE plist [<!ENTITY a \"lol\"><!ENTITY b \"&a;&a;&a;&a;\">]><plist><dict/></plist>"
    return [
      try profile("development", Self.profile(aps: "development")) { $0.environments = ["development"] },
      try profile("production", Self.profile(aps: "production")) { $0.environments = ["production"] },
      try profile("without push", Self.profile(aps: nil)) {
        $0.environments = []
        $0.warnings = ["profile_without_push"]
      },
      try profile("for every app", Self.profile(aps: nil, appID: "TEAM123456.*")) {
        $0.environments = []
        $0.topics = []
        $0.warnings = ["wildcard_profile"]
      },
      try profile("over", Self.profile(aps: "production", end: "2026-11-20T11:59:59Z")) {
        $0.environments = ["production"]
        $0.notAfter = "2026-11-20T11:59:59Z"
        $0.warnings = ["expired.provisioning_profile"]
      },
      try profile("until 2060", Self.profile(aps: "production", end: "2060-02-29T00:00:00Z")) {
        $0.environments = ["production"]
        $0.notAfter = "2060-02-29T00:00:00Z"
      },
      try refused("a date that is none", Self.profile(aps: "production", end: "2027-13-41T00:00:00Z")),
      try refused("entities that grow", bomb), try refused("signed text", "hello"),
      try refused("a thousand levels", "<?xml version=\"1.0\"?><plist>" + String(repeating: "<array>", count: 1000)),
      try refused(
        "a configuration profile",
        "<?xml version=\"1.0\"?><plist><dict><key>PayloadType</key><string>Configuration</string></dict></plist>",
        "not_a_certificate.configuration_profile"),
      kind(
        "profile, not signed", Data(Self.profile(aps: nil).utf8), "x.plist", .refused("not_a_certificate.property_list")
      ),
    ]
  }
}
