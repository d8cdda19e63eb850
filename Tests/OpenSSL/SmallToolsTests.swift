import Foundation
import OpenSSL
import Testing

@Suite("Digest, HMAC, Base64, random")
struct SmallToolsTests {
  @Test("SHA-256 of the examples of FIPS 180-4")
  func digest() {
    #expect(Digest.sha256([]) == hex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
    #expect(
      Digest.sha256(Data("abc".utf8)) == hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
  }

  @Test("HMAC of RFC 4231, test cases 1 and 2, and with an empty key")
  func hmac() {
    #expect(
      HMAC.sha256(key: [UInt8](repeating: 0x0B, count: 20), Data("Hi There".utf8))
        == hex("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"))
    #expect(
      HMAC.sha256(key: Data("Jefe".utf8), Data("what do ya want for nothing?".utf8))
        == hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
    #expect(
      HMAC.sha256(key: [], []) == hex("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"))
  }

  @Test("Base64 for addresses, all lengths and all bytes")
  func base64() {
    for count in 0..<10 {
      let bytes = Array((0...255).map(UInt8.init).suffix(count))
      let text = Base64URL.encode(bytes)
      #expect(!text.contains("=") && !text.contains("+") && !text.contains("/"))
      #expect(Base64URL.decode(text) == bytes)
    }
    #expect(Base64URL.encode((0...255).map(UInt8.init)).utf8.count == 342)
    for text in ["A", "AAAAA", "AA==", "A+", "A/", "A A", "AA\n", "ä"] { #expect(Base64URL.decode(text) == nil) }
  }

  @Test("random bytes differ, and a token has 4 characters for 3 bytes")
  func random() {
    #expect(Random.bytes(0) == [])
    #expect(Random.bytes(32) != Random.bytes(32))
    #expect(Random.token(bytes: 24).utf8.count == 32)
  }

  @Test("secrets are compared whole")
  func equal() {
    #expect(constantTimeEqual([1, 2, 3], Data([1, 2, 3])))
    #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
    #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
    #expect(constantTimeEqual([UInt8](), [UInt8]()))
  }

  @Test("PEM blocks are read between other text, and truncated ones are refused")
  func pem() throws {
    let one = "-----BEGIN A-----\nAAAA\n-----END A-----\n"
    let two = "-----BEGIN B B-----\nX: y\n\nAAAA\n-----END B B-----"
    let blocks = try PEMBlock.all(in: Data("text\n\(one)more\n\(two)".utf8))
    #expect(blocks.map(\.label) == ["A", "B B"])
    #expect(blocks.map(\.content) == [Data([0, 0, 0]), Data([0, 0, 0])])
    #expect(blocks[0].text == one)
    #expect(try PEMBlock.all(in: Data("nothing".utf8)) == [])
    #expect(try PEMBlock.all(in: Data()) == [])
    #expect(throws: PEMError.damaged(after: 1)) { try PEMBlock.all(in: Data("\(one)-----BEGIN B-----\nAAAA\n".utf8)) }
    #expect(throws: PEMError.damaged(after: 1)) { try PEMBlock.all(in: Data("\(one)-----BEGIN B--".utf8)) }
    #expect(throws: PEMError.damaged(after: 0)) {
      try PEMBlock.all(in: Data("-----BEGIN A-----\nA*A\n-----END A-----\n".utf8))
    }
  }
}
