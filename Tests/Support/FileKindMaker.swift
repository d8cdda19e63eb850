import Foundation

/// Makes the files of ``FileKinds`` in a temporary folder.
final class FileKindMaker {
  let openssl: OpenSSLCommand
  /// Of the key on P-256 that most certificates have, in PEM.
  let key: String
  static let subject = "/UID=com.x/CN=Apple Push Services: com.x/OU=TEAM123456/O=Example/C=US"
  static let end = "2027-10-31T23:59:59Z"

  init() throws {
    let openssl = try OpenSSLCommand()
    try openssl(
      "genpkey", "-algorithm", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-out", "key.pem")
    try openssl("genrsa", "-out", "rsa.pem", "2048")
    try openssl.write(Data(), to: "index")
    try openssl.write(Data("unique_subject = no\n".utf8), to: "index.attr")
    try openssl.write(Data("4F02\n".utf8), to: "serial")
    let fields = ["userId", "commonName", "organizationalUnitName", "organizationName", "countryName"]
    let config =
      "[ca]\ndefault_ca=c\n[c]\ndatabase=index\nserial=serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=p\n"
      + "preserve=yes\n[p]\n" + fields.map { "\($0)=optional\n" }.joined()
    try openssl.write(Data(config.utf8), to: "ca.cnf")
    key = try openssl.text("key.pem")
    self.openssl = openssl
  }

  /// Apple's list of topics (`.6` or `.4`), from a Pushy-like configuration.
  static func topics(_ list: [(String, String)], oid: Int = 6) -> (extensions: [String], sections: String) {
    let sections = list.enumerated().map { "[k\($0.offset)]\nk=UTF8:\($0.element.1)\n" }.joined()
    let entries = list.enumerated().map { "t\($0.offset)=UTF8:\($0.element.0)\nv\($0.offset)=SEQUENCE:k\($0.offset)\n" }
    return (["1.2.840.113635.100.6.3.\(oid)=ASN1:SEQUENCE:topics"], "[topics]\n" + entries.joined() + sections)
  }

  /// Marks below Apple's arc of push (`6.3`), or any other below `1.2.840.113635.100`.
  static func marks(_ numbers: String...) -> [String] { numbers.map { "1.2.840.113635.100.\($0)=DER:05:00" } }

  static let universal = topics([("com.x", "app"), ("com.x.voip", "voip"), ("com.x.complication", "complication")])

  /// A certificate in PEM, signed with its own key in Apple's name.
  func certificate(
    _ subject: String = subject, extensions: [String] = marks("6.3.1", "6.3.2") + universal.extensions,
    sections: String = universal.sections, from start: String = "20261001000000Z", to end: String = "20271031235959Z",
    key: String = "key.pem"
  ) throws -> String {
    try openssl.write(
      Data(("[e]\nbasicConstraints=CA:FALSE\n" + extensions.map { $0 + "\n" }.joined() + sections).utf8), to: "e.cnf")
    try openssl("req", "-new", "-key", key, "-subj", subject, "-utf8", "-out", "r.csr")
    try openssl(
      "req", "-x509", "-new", "-key", key, "-subj", "/CN=Apple Worldwide Developer Relations/O=Apple Inc./C=US",
      "-days",
      "9000", "-out", "issuer.pem")
    try openssl(
      "ca", "-config", "ca.cnf", "-cert", "issuer.pem", "-batch", "-notext", "-keyfile", key, "-in", "r.csr",
      "-startdate", start,
      "-enddate", end, "-extfile", "e.cnf", "-extensions", "e", "-utf8", "-out", "c.pem")
    return try openssl.text("c.pem")
  }

  /// A .p12 of a certificate with the key.
  func p12(_ certificate: String, password: String, _ options: [String] = [], key: String = "key.pem") throws -> Data {
    try openssl.write(Data((certificate + openssl.text(key)).utf8), to: "in.pem")
    try openssl.run(
      ["pkcs12"] + options.filter { $0 == "-legacy" }
        + ["-export", "-in", "in.pem", "-passout", "pass:\(password)", "-out", "x.p12"]
        + options.filter { $0 != "-legacy" })
    return try openssl.data("x.p12")
  }

  func der(_ certificate: String) throws -> Data {
    try openssl.write(Data(certificate.utf8), to: "d.pem")
    return try openssl("x509", "-in", "d.pem", "-outform", "DER")
  }

  /// The lines of a key's Base64, which nothing may show.
  func secrets(_ pem: String) -> [String] {
    pem.split(separator: "\n").filter { $0.utf8.count > 20 && !$0.contains("-") }.map(String.init)
  }

  /// What is true of the usual push certificate.
  static func push(_ change: (inout FileKind.Truth) -> Void = { _ in }) -> FileKind.Outcome {
    var truth = FileKind.Truth("apns_certificate", role: "push")
    truth.topics = ["com.x", "com.x.voip", "com.x.complication"]
    truth.types = ["alert", "background", "voip", "complication"]
    truth.notAfter = end
    change(&truth)
    return .read(truth)
  }

  func all() throws -> [FileKind] {
    try certificates() + texts() + roles() + dates() + keys() + profiles() + services() + wrapped() + wrongContents()
      + others()
  }

  func kind(
    _ name: String, _ data: Data, _ fileName: String, _ outcome: FileKind.Outcome, password: String? = nil,
    take: String? = nil, more: [String] = []
  ) -> FileKind {
    FileKind(
      name: name, data: data, fileName: fileName, password: password, take: take, outcome: outcome,
      secrets: secrets(key) + (password.map { $0.utf8.count > 7 ? [$0] : [] } ?? []) + more)
  }
}
