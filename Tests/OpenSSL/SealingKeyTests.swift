import Foundation
import Glibc
import OpenSSL
import TestSupport
import Testing

@Suite("Sealing key")
struct SealingKeyTests {
  @Test("opens what it sealed, of any length", arguments: [0, 1, 15, 16, 17, 5000])
  func opens(count: Int) throws {
    let key = SealingKey()
    let secret = Random.bytes(count)
    let sealed = try key.seal(secret, associatedData: Data("certificates/1".utf8))
    #expect(sealed.count == count + 29)
    #expect(sealed.first == 1)
    #expect(try key.open(sealed, associatedData: Data("certificates/1".utf8)) == Data(secret))
    #expect(try key.seal(secret, associatedData: Data()) != key.seal(secret, associatedData: Data()))
  }

  @Test("another row, another key, a changed byte and a cut do not open")
  func refuses() throws {
    let key = SealingKey()
    let sealed = try key.seal(Data("secret".utf8), associatedData: Data("certificates/1".utf8))
    #expect(throws: SealingError.doesNotOpen) { try key.open(sealed, associatedData: Data("certificates/2".utf8)) }
    #expect(throws: SealingError.doesNotOpen) { try key.open(sealed, associatedData: Data()) }
    #expect(throws: SealingError.doesNotOpen) {
      try SealingKey().open(sealed, associatedData: Data("certificates/1".utf8))
    }
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1
      #expect(throws: index == 0 ? SealingError.unknownVersion(0) : .doesNotOpen) {
        try key.open(changed, associatedData: Data("certificates/1".utf8))
      }
      #expect(throws: SealingError.self) {
        try key.open(sealed.prefix(index), associatedData: Data("certificates/1".utf8))
      }
    }
  }

  @Test("what another implementation of AES-256-GCM sealed in our form opens")
  func vector() throws {
    // Made with AESGCM of Python's package cryptography: associated data are our version byte and "certificates/17".
    let key = try #require(SealingKey(bytes: hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")))
    let sealed = hex("01cafebabefacedbaddecaf888ea3c80b002a01e962d22183dc75eb125fd4c6bef8c40de78")
    #expect(try key.open(sealed, associatedData: Data("certificates/17".utf8)) == Data("a secret".utf8))
    #expect(key.identifier.count == 16)
    #expect(!"\(key)".contains("feff"))
    #expect(SealingKey(bytes: [1, 2, 3]) == nil)
  }

  @Test("the file is made once, for its owner only, and read again")
  func file() throws {
    let openssl = try OpenSSLCommand()
    let path = openssl.folder.appendingPathComponent("secret.key").path
    #expect(try SealingKey.load(path: path) == nil)
    let key = try SealingKey.loadOrCreate(path: path)
    #expect(try SealingKey.loadOrCreate(path: path).identifier == key.identifier)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: openssl.folder.path) == ["secret.key"])
  }

  @Test("many that start at the same time get the same key")
  func race() async throws {
    let openssl = try OpenSSLCommand()
    let path = openssl.folder.appendingPathComponent("secret.key").path
    let identifiers = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<16 { group.addTask { try SealingKey.loadOrCreate(path: path).identifier } }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(identifiers.count == 1)
  }

  @Test("a file that others may read, or that holds no key, is refused with what to do")
  func badFiles() throws {
    let openssl = try OpenSSLCommand()
    let path = openssl.folder.appendingPathComponent("secret.key").path
    _ = try SealingKey.loadOrCreate(path: path)
    chmod(path, 0o640)
    let readable = #expect(throws: SealingKeyFileError.self) { try SealingKey.loadOrCreate(path: path) }
    #expect(readable == .readableByOthers(path: path, mode: 0o640))
    #expect(readable?.description.contains("chmod 600") == true)
    chmod(path, 0o600)
    for text in ["", "short", Base64URL.encode(Random.bytes(31)), Base64URL.encode(Random.bytes(33))] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      chmod(path, 0o600)
      #expect(throws: SealingKeyFileError.damaged(path: path)) { try SealingKey.loadOrCreate(path: path) }
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(text.utf8))
    }
    #expect(SealingKeyFileError.damaged(path: path).description.contains("is malformed"))
    #expect(throws: SealingKeyFileError.notAFile(path: openssl.folder.path)) {
      try SealingKey.loadOrCreate(path: openssl.folder.path)
    }
    #expect(throws: SealingKeyFileError.self) { try SealingKey.loadOrCreate(path: path + "/no/secret.key") }
  }

  @Test("a file with standard, padded Base64 is read as well, with the same key")
  func standardBase64() throws {
    let openssl = try OpenSSLCommand()
    let path = openssl.folder.appendingPathComponent("secret.key").path
    // Both alphabets differ in its first characters: "-_" and "+/".
    let bytes: [UInt8] = [0xfb, 0xff] + Random.bytes(30)
    let key = try #require(SealingKey(bytes: bytes))
    for text in [Data(bytes).base64EncodedString() + "\n", Base64URL.encode(bytes) + "\n"] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      chmod(path, 0o600)
      #expect(try SealingKey.load(path: path)?.identifier == key.identifier, "\(text)")
    }
  }
}

func hex(_ text: String) -> [UInt8] {
  stride(from: 0, to: text.utf8.count, by: 2).compactMap { UInt8(text.dropFirst($0).prefix(2), radix: 16) }
}
