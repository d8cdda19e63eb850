import Foundation

extension FileKindMaker {
  /// Google's service account and JPush's keys, as JSON and as text.
  func services() throws -> [FileKind] {
    let rsa = String(decoding: try openssl("pkcs8", "-topk8", "-nocrypt", "-in", "rsa.pem"), as: UTF8.self)
    func account(_ change: (inout [String: Any]) -> Void = { _ in }) throws -> Data {
      var members: [String: Any] = [
        "type": "service_account", "project_id": "shop-1a2b3", "private_key_id": String(repeating: "ab", count: 20),
        "private_key": rsa, "client_email": "firebase-adminsdk-x@shop-1a2b3.iam.gserviceaccount.com",
        "client_id": "1234567890", "auth_uri": "https://accounts.google.com/o/oauth2/auth",
        "token_uri": "https://oauth2.googleapis.com/token", "universe_domain": "googleapis.com",
      ]
      change(&members)
      return try JSONSerialization.data(
        withJSONObject: members, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    }
    var truth = FileKind.Truth("fcm_service_account")
    truth.environments = []
    let google = FileKind.Outcome.read(truth)
    truth.kind = "jpush_key_pair"
    let jpush = FileKind.Outcome.read(truth)
    func json(_ name: String, _ data: Data, _ outcome: FileKind.Outcome) -> FileKind {
      kind(name, data, "shop-firebase-adminsdk.json", outcome, more: secrets(rsa))
    }
    let appKey = "0123456789abcdef01234567"
    let secret = "fedcba9876543210fedcba98"
    func keys(_ name: String, _ text: String, _ outcome: FileKind.Outcome? = nil) -> FileKind {
      kind("JPush, \(name)", Data(text.utf8), "jpush.txt", outcome ?? jpush, more: [secret])
    }
    let whole = try account()
    let p384 = String(
      decoding: try openssl("genpkey", "-algorithm", "ec", "-pkeyopt", "ec_paramgen_curve:secp384r1"), as: UTF8.self)
    return [
      json("service account", whole, google),
      json(
        "service account with \\n as two characters",
        try account { $0["private_key"] = rsa.replacing("\n", with: "\\n") }, google),
      json(
        "service account without project", try account { $0["project_id"] = nil }, .refused("service_account.missing")),
      json(
        "service account without its key", try account { $0["private_key"] = "REDACTED" },
        .refused("service_account.key_unreadable")),
      json(
        "service account with its key cut", try account { $0["private_key"] = String(rsa.prefix(900)) },
        .refused("service_account.key_cut")),
      json(
        "service account with another key", try account { $0["private_key"] = p384 },
        .refused("service_account.key_kind")),
      json(
        "service account, plain http", try account { $0["token_uri"] = "http://example.com/" },
        .refused("service_account.token_uri")),
      json(
        "service account, a port that does not exist", try account { $0["token_uri"] = "https://example.com:65536/" },
        .refused("service_account.token_uri")),
      json("service account, cut", whole.prefix(whole.count - 200), .refused("json_damaged")),
      json(
        "a person's credentials", Data(#"{"type":"authorized_user","client_id":"x","refresh_token":"y"}"#.utf8),
        .refused("not_a_certificate.google_user")),
      json(
        "google-services.json", Data(#"{"project_info":{"project_id":"x"},"client":[]}"#.utf8),
        .refused("not_a_certificate.google_services")),
      json("OAuth client", Data(#"{"installed":{"client_id":"x"}}"#.utf8), .refused("not_a_certificate.google_client")),
      kind(
        "GoogleService-Info.plist",
        Data("<plist><dict><key>GOOGLE_APP_ID</key><string>1:1:ios:1</string></dict></plist>".utf8),
        "GoogleService-Info.plist", .refused("not_a_certificate.google_info")),
      kind(
        "a legacy server key of FCM", Data("AAAAabcdEFG:APA91b\(String(repeating: "x", count: 134))\n".utf8), "key.txt",
        .refused("not_a_certificate.server_key")),
      kind(
        "a Google API key", Data("AIza\(String(repeating: "y", count: 35))".utf8), "key.txt",
        .refused("not_a_certificate.server_key")),
      json("any JSON", Data(#"{"a":1}"#.utf8), .refused("not_a_certificate.json")),
      json("a million levels", Data(String(repeating: "[", count: 1_000_000).utf8), .refused("not_a_certificate.json")),
      keys("JSON", #"{"app_key": "\#(appKey)", "master_secret": "\#(secret)"}"#),
      keys("text", "App: Shop\nAppKey: \(appKey)\nMaster Secret: \(secret.uppercased())\n"),
      keys("text, Chinese colon", "AppKey：\(appKey)\r\nMaster Secret：\(secret)\r\n"),
      keys("as user and password", "\(appKey):\(secret)\n"),
      keys("without the secret", "AppKey: \(appKey)\n", .refused("jpush_keys.master_secret")),
      keys(
        "a secret too short", "AppKey: \(appKey)\nMaster Secret: \(secret.dropLast())\n",
        .refused("jpush_keys.master_secret")),
      keys("the same twice", "AppKey: \(appKey)\nMaster Secret: \(appKey)\n", .refused("jpush_keys.master_secret")),
    ]
  }

  /// What people bring by mistake.
  func others() throws -> [FileKind] {
    let pem = try certificate()
    try openssl.write(Data(pem.utf8), to: "certs.pem")
    func other(_ what: String, _ data: Data, _ fileName: String) -> FileKind {
      kind("\(what): \(fileName)", data, fileName, .refused("not_a_certificate.\(what)"))
    }
    func text(_ what: String, _ text: String, _ fileName: String) -> FileKind { other(what, Data(text.utf8), fileName) }
    let page = "\n<!DOCTYPE html>\n<html><head><title>Sign in with your Apple ID</title></head><body></body></html>"
    let asText = Data(String(decoding: try p12(pem, password: "x"), as: UTF8.self).utf8)
    let rtf = "{\\rtf1\\ansi -----BEGIN CERTIFICATE"
    let zip: [UInt8] = [0x50, 0x4B, 0x03, 0x04, 0x14, 0, 0, 0, 8, 0]
    return [
      other(
        "certificate_request", try openssl("req", "-new", "-key", "key.pem", "-subj", "/CN=x"),
        "CertificateSigningRequest.certSigningRequest"),
      other(
        "certificate_request", try openssl("req", "-new", "-key", "key.pem", "-subj", "/CN=x", "-outform", "DER"),
        "request.der"),
      other("public_key", try openssl("pkey", "-in", "key.pem", "-pubout"), "key.pub.pem"),
      other("public_key", try openssl("pkey", "-in", "key.pem", "-pubout", "-outform", "DER"), "key.pub.der"),
      other(
        "certificate_bundle", try openssl("crl2pkcs7", "-nocrl", "-certfile", "certs.pem", "-outform", "DER"),
        "chain.p7b"),
      other("certificate_bundle", try openssl("crl2pkcs7", "-nocrl", "-certfile", "certs.pem"), "chain-pem.p7b"),
      other("keystore", Data([0xFE, 0xED, 0xFE, 0xED, 0, 0, 0, 2]), "push.jks"),
      other("keychain", Data("kych\u{0}\u{1}".utf8), "login.keychain-db"),
      other("archive", Data(zip + Array("aps.cer".utf8)), "push.zip"),
      other("archive", Data([0x1F, 0x8B, 8, 0]), "push.tgz"),
      other("word_document", Data(zip + Array("[Content_Types].xml".utf8)), "push.docx"),
      other("word_document", Data([0xD0, 0xCF, 0x11, 0xE0]), "push.doc"),
      text("word_document", rtf, "push.rtf"),
      other("app", Data(zip + Array("Payload/Shop.app/Info.plist".utf8)), "Shop.ipa"),
      text("web_page", page, "aps.cer"), other("document", Data("%PDF-1.7\n%\u{E2}\u{E3}".utf8) + [0xFF], "push.pdf"),
      other("image", Data([0x89, 0x50, 0x4E, 0x47, 13, 10]), "push.png"),
      other("mac_companion", Data([0, 5, 0x16, 7, 0, 2]), "._push.p12"),
      other("property_list", Data("bplist00".utf8) + [0xD1, 0x01], "Info.plist"),
      other("read_as_text", asText, "push.p12"),
      text("broken_frame", pem.replacing("-----", with: "—"), "push.pem"),
      text(
        "ssh_key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAbcdefghijklmnopqrstuvwxyz0123456789ABCDEFG lin@mac",
        "id_ed25519.pub"),
      text(
        "ssh_key", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----\n",
        "id_ed25519"),
      text(
        "pgp_key", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQENBF\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----\n",
        "key.asc"),
      text("device_token", "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad", "token.txt"),
      text(
        "lossy_token", "{length = 32, bytes = 0x740f4707 bebcf74f 9b7c25d4 8e335894 ... 462c7eaf 61bb78ad }",
        "token.txt"),
      text("mail", "From: lin@example.com\nMIME-Version: 1.0\nSubject: Certificate\n\nAttached.", "mail.eml"),
      text("text", "Please find the certificate attached.", "readme.txt"),
      other("unknown", Data([0, 1, 2, 3]), "push.bin"),
      other("unknown", Data([0x30, 0]), "push.der"),
    ]
  }
}
