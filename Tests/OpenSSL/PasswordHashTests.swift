import OpenSSL
import Testing

@Suite("Password hash")
struct PasswordHashTests {
  @Test(
    "verifies its own password and no other",
    arguments: ["correct horse", "", "密码🔑", String(repeating: "x", count: 1024)])
  func verifies(password: String) throws {
    let hash = try PasswordHash.make(password: password, parameters: .quickForTests)
    #expect(hash.verifies(password))
    #expect(!hash.verifies(password + "x"))
    #expect(!hash.verifies("y" + password.dropLast()))
    let read = try #require(PasswordHash(hash.text))
    #expect(read == hash)
    #expect(read.verifies(password))
    #expect(try PasswordHash.make(password: password, parameters: .quickForTests).text != hash.text)
    #expect("\(hash)" == "scrypt password hash")
  }

  @Test("an accent typed in two ways is the same password")
  func normalization() throws {
    let hash = try PasswordHash.make(password: "caf\u{E9}", parameters: .quickForTests)
    #expect(hash.verifies("cafe\u{301}"))
  }

  @Test("the test vector of RFC 7914, section 12, is verified")
  func vector() throws {
    // scrypt("password", "NaCl", N=1024, r=8, p=16): its salt is shorter than ours may be.
    let short = "$scrypt$ln=10,r=8,p=16$TmFDbA$"
    #expect(
      PasswordHash(short + "/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWIurzDZLiKjiG/xCSedmDDaxyevuUqD7m2DYMvfoswGQA")
        == nil)
    // scrypt("pleaseletmein", "SodiumChloride", N=16384, r=8, p=1)
    let text =
      "$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU"
      + "$cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofLVQylVYT8Pz2LUlwUkKpr55h6F3A1lHkDfzwF7RVdYhw"
    let hash = try #require(PasswordHash(text))
    #expect(hash.verifies("pleaseletmein"))
    #expect(!hash.verifies("pleaseletmeout"))
    #expect(hash.text == text)
    #expect(hash.needsRehash())
  }

  @Test("the normal parameters are those of the standard, and work")
  func normal() throws {
    let hash = try PasswordHash.make(password: "x")
    #expect(hash.text.hasPrefix("$scrypt$ln=17,r=8,p=1$"))
    #expect(hash.verifies("x"))
    #expect(!hash.needsRehash())
    #expect(hash.needsRehash(for: .quickForTests))
    #expect(!PasswordHash.decoy(parameters: .quickForTests).verifies("x"))
  }

  @Test(
    "other texts are no hash, nor are those that ask for too much memory",
    arguments: [
      "", "$", "$scrypt$ln=4,r=8,p=1$$", "$scrypt$ln=4,r=8,p=1$AAAAAAAAAAAAAAAA",
      "$argon2id$v=19$m=1,t=1,p=1$AAAA$AAAA",
      "$scrypt$ln=0,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAA",
      "$scrypt$ln=30,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAA",
      "$scrypt$ln=20,r=32,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAA",
      "$scrypt$ln=4,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$****************************",
    ])
  func malformed(text: String) { #expect(PasswordHash(text) == nil) }
}
