import Foundation

extension FileKindMaker {
  /// .p12 in all its forms.
  func certificates() throws -> [FileKind] {
    let pem = try certificate()
    let utf8 = "pässwörd 密码 🔑"
    let old = String(String.UnicodeScalarView(utf8.utf8.map(Unicode.Scalar.init)))
    let push = Self.push()
    func p12(
      _ name: String, _ password: String, _ options: [String] = [], given: String? = nil,
      _ outcome: FileKind.Outcome? = nil
    ) throws -> FileKind {
      kind(
        "p12, \(name)", try self.p12(pem, password: password, options), "push.p12", outcome ?? push,
        password: given ?? password)
    }
    let legacy = ["-legacy"]
    let rsa = try certificate(key: "rsa.pem")
    try openssl.write(Data(pem.utf8), to: "chain.pem")
    var kinds = [
      try p12("AES-256", "correct horse"), try p12("RC2-40 of Keychain", "correct horse", legacy),
      try p12("3DES", "correct horse", ["-keypbe", "PBE-SHA1-3DES", "-certpbe", "PBE-SHA1-3DES", "-macalg", "sha1"]),
      try p12("RC4", "correct horse", legacy + ["-keypbe", "PBE-SHA1-RC4-128", "-certpbe", "PBE-SHA1-RC4-128"]),
      try p12("empty password", ""), try p12("UTF-8 password", utf8), try p12("UTF-8 password, RC2-40", utf8, legacy),
      try p12("UTF-8 password of an old OpenSSL", old, legacy, given: utf8),
      try p12("without checksum", "correct horse", ["-nomac"]),
      try p12("not encrypted", "", ["-keypbe", "NONE", "-certpbe", "NONE"]),
      try p12("a friendly name", "correct horse", ["-name", "Shop & Söhne <push>"]),
      try p12("wrong password", "correct horse", given: "wrong horse", .refused("wrong_password")),
      try p12("password with a line break", "correct horse", given: "correct horse\n", .refused("password_has_blanks")),
      try p12("no password given", "correct horse", given: "", .refused("password_needed")),
      try p12(
        "key not exported", "correct horse", ["-nokeys"],
        Self.push {
          $0.hasKey = false
          $0.warnings = ["no_private_key"]
        }),
      kind(
        "p12, RSA", try self.p12(rsa, password: "x", key: "rsa.pem"), "push.p12", push, password: "x",
        more: secrets(try openssl.text("rsa.pem"))),
    ]
    let whole = try self.p12(pem, password: "x")
    kinds.append(
      kind(
        "p12 in Base64",
        Data(whole.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed]).utf8), "p12.txt", push,
        password: "x"))
    kinds.append(kind("p12 with line ends behind it", whole + Data("\r\n".utf8), "push.p12", push, password: "x"))
    return kinds
  }

  /// .pem in any order and any encoding of its text, .cer in all forms.
  func texts() throws -> [FileKind] {
    let pem = try certificate()
    let both = pem + key
    let push = Self.push()
    func text(_ name: String, _ text: String, password: String? = nil, more: [String] = []) -> FileKind {
      kind("pem, \(name)", Data(text.utf8), "push.pem", push, password: password, more: more)
    }
    let rsa = try certificate(key: "rsa.pem")
    let pkcs1 = String(decoding: try openssl("rsa", "-in", "rsa.pem", "-traditional"), as: UTF8.self)
    let sec1 =
      String(decoding: try openssl("ec", "-in", "key.pem", "-param_out"), as: UTF8.self)
      + String(decoding: try openssl("ec", "-in", "key.pem"), as: UTF8.self)
    func locked(_ arguments: String...) throws -> String {
      String(decoding: try openssl.run(arguments + ["-passout", "pass:correct horse"]), as: UTF8.self)
    }
    let bags = String(
      decoding: try { () throws -> Data in
        try openssl.write(try p12(pem, password: "x", ["-name", "Shop"]), to: "bags.p12")
        return try openssl("pkcs12", "-in", "bags.p12", "-passin", "pass:x", "-nodes")
      }(), as: UTF8.self)
    try openssl.write(Data(pem.utf8), to: "t.pem")
    let told = String(decoding: try openssl("x509", "-in", "t.pem", "-text"), as: UTF8.self)
    let trusted = String(
      decoding: try openssl("x509", "-in", "t.pem", "-trustout", "-addtrust", "clientAuth"), as: UTF8.self)
    let watched = Self.push {
      $0.hasKey = false
      $0.warnings = ["no_private_key"]
    }
    func oneLine(_ text: String, _ end: String) -> String { text.split(separator: "\n").joined(separator: end) }
    return [
      text("certificate first", both), text("key first", key + pem),
      text("PKCS#1 key", rsa + pkcs1, more: secrets(pkcs1)),
      text("SEC 1 key with parameters", sec1 + pem, more: secrets(sec1)),
      text("3DES in its headers", pem + (try locked("ec", "-in", "key.pem", "-des3")), password: "correct horse"),
      text(
        "AES in its headers", (try locked("rsa", "-in", "rsa.pem", "-traditional", "-aes256")) + rsa,
        password: "correct horse"),
      text("encrypted PKCS#8", pem + (try locked("pkcs8", "-topk8", "-in", "key.pem")), password: "correct horse"),
      text("scrypt", pem + (try locked("pkcs8", "-topk8", "-scrypt", "-in", "key.pem")), password: "correct horse"),
      text(
        "MD5 and DES",
        pem
          + (try locked(
            "pkcs8", "-topk8", "-v1", "PBE-MD5-DES", "-provider", "legacy", "-provider", "default", "-in", "key.pem")),
        password: "correct horse"),
      text("bag attributes", bags), text("text around", "Hello,\nhere it is:\n" + told + key + "Regards\n"),
      text("CRLF", both.replacing("\n", with: "\r\n")), text("CR of old Macs", both.replacing("\n", with: "\r")),
      text("byte order mark", "\u{FEFF}" + both), text("in one line", oneLine(both, " ")),
      text("\\n as two characters", oneLine(both, "\\n")), text("indented", both.replacing("\n", with: "\n    ")),
      kind(
        "pem, UTF-16 of Windows", Data([0xFF, 0xFE]) + (both.data(using: .utf16LittleEndian) ?? Data()), "push.pem",
        push),
      kind(
        "pem, UTF-16 big-endian", Data([0xFE, 0xFF]) + (both.data(using: .utf16BigEndian) ?? Data()), "push.pem", push),
      kind("pem, UTF-16 without mark", both.data(using: .utf16LittleEndian) ?? Data(), "push.pem", push),
      kind("pem in Base64", Data(Data(both.utf8).base64EncodedString().utf8), "push.txt", push),
      kind("cer, DER", try der(pem), "aps.cer", watched), kind("crt, PEM", Data(pem.utf8), "aps.crt", watched),
      kind(
        "cer, bare Base64", Data(try der(pem).base64EncodedString(options: .lineLength76Characters).utf8), "aps.cer",
        watched),
      kind("trusted certificate", Data((trusted + key).utf8), "push.pem", push),
    ]
  }

  /// Until when: far, over, and not yet.
  func dates() throws -> [FileKind] {
    func dated(_ name: String, _ start: String, _ end: String, _ notAfter: String, _ warnings: [String] = []) throws
      -> FileKind
    {
      let pem = try certificate(from: start, to: end)
      return kind(
        "until \(name)", Data((pem + key).utf8), "push.pem",
        Self.push {
          $0.notAfter = notAfter
          $0.warnings = warnings
        })
    }
    return [
      try dated("the last second of UTCTime", "20261001000000Z", "20491231235959Z", "2049-12-31T23:59:59Z"),
      try dated("2055", "20261001000000Z", "20550228120000Z", "2055-02-28T12:00:00Z"),
      try dated("the end of time", "20261001000000Z", "99991231235959Z", "9999-12-31T23:59:59Z"),
      try dated(
        "yesterday", "20251001000000Z", "20261119115959Z", "2026-11-19T11:59:59Z", ["expired.apns_certificate"]),
      try dated("1999", "19500101000000Z", "19991231235959Z", "1999-12-31T23:59:59Z", ["expired.apns_certificate"]),
      try dated("after tomorrow's begin", "20261121000000Z", "20271031235959Z", Self.end, ["not_yet_valid"]),
    ]
  }
}
