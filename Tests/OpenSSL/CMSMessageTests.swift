import Foundation
import OpenSSL
import TestSupport
import Testing

@Suite("CMS message")
struct CMSMessageTests {
  @Test("what openssl signed is read, with its signer, in DER and in the streamed form")
  func reads() throws {
    let openssl = try OpenSSLCommand()
    try openssl.makeIdentity()
    let content = Data("<plist>äöü</plist>\n".utf8)
    try openssl.write(content, to: "content")
    for more in ["-binary", "-stream"] {
      try openssl(
        "cms", "-sign", "-nodetach", "-binary", more, "-in", "content", "-signer", "cert.pem", "-inkey", "key.pem",
        "-outform", "DER", "-out", "message")
      let message = try CMSMessage(der: openssl.data("message"))
      #expect(message.content == content)
      #expect(message.isIntact)
      #expect(message.certificates == [try Certificate(pem: openssl.text("cert.pem"))])
    }
  }

  @Test("what we sign is good for openssl; a changed content is not intact")
  func signs() throws {
    let openssl = try OpenSSLCommand()
    let authority = try CertificateAuthority(subject: [.commonName("CA")], notBefore: noon, notAfter: noon + day)
    var der = try CMSMessage.sign(
      Data("content".utf8), certificate: authority.certificate, key: authority.key)
    try openssl.write(der, to: "message")
    #expect(try openssl("cms", "-verify", "-noverify", "-inform", "DER", "-in", "message") == Data("content".utf8))
    #expect(try CMSMessage(der: der).isIntact)
    let place = try #require(der.firstRange(of: Data("content".utf8)))
    der.replaceSubrange(place, with: Data("Content".utf8))
    let changed = try CMSMessage(der: der)
    #expect(changed.content == Data("Content".utf8))
    #expect(!changed.isIntact)
  }

  @Test("every cut is refused, and so is everything else")
  func cuts() throws {
    let authority = try CertificateAuthority(subject: [.commonName("CA")], notBefore: noon, notAfter: noon + day)
    let der = try CMSMessage.sign(Data("content".utf8), certificate: authority.certificate, key: authority.key)
    for count in 1..<der.count {
      #expect(throws: CMSError.truncated) { try CMSMessage(der: der.prefix(count)) }
    }
    #expect(throws: CMSError.notSigned) { try CMSMessage(der: Data()) }
    #expect(throws: CMSError.notSigned) { try CMSMessage(der: authority.certificate.der) }
    let openssl = try OpenSSLCommand()
    try openssl.makeIdentity()
    try openssl.write(Data("content".utf8), to: "content")
    try openssl(
      "cms", "-sign", "-in", "content", "-signer", "cert.pem", "-inkey", "key.pem", "-outform", "DER", "-out",
      "detached")
    #expect(throws: CMSError.noContent) { try CMSMessage(der: openssl.data("detached")) }
  }
}
