import Certificates
import Foundation
import Glibc
import JSON
import OpenSSL
import Model
import TestSupport
import Testing

@Suite("Hostile files")
struct HostileFileTests {
  /// Processor time of this thread in seconds: other work on the machine does not count.
  private static func cpu() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// No file may take longer, in seconds of a processor, whatever the build.
  private static let limit = 0.1
  /// What a key derivation may take that the file itself asks for.
  private static let costlyLimit = 2.0

  /// Looks at a file, and says how long that took. What took too long is looked at again: a neighbour on the same core
  /// takes time from everybody now and then, and what is slow is slow each time.
  private static func look(_ kind: FileKind, _ data: Data, limit: Double) -> (file: CertificateFile?, seconds: Double) {
    var quickest = Double.infinity
    var file: CertificateFile?
    for _ in 0..<3 where quickest >= limit {
      let before = cpu()
      file = try? FileKindTests.inspect(kind, data)
      quickest = min(quickest, cpu() - before)
    }
    return (file, quickest)
  }

  /// Also long files are cut at every length: twenty minutes of processor time in a release build.
  private static let isWhole = ProcessInfo.processInfo.environment["SIGNALBOX_TEST_CUTS"] == "all"

  /// The lengths that a file is cut to: each one, unless it is so long that a test would take minutes; then each of the
  /// first and last, and some between.
  private static func cuts(_ count: Int) -> [Int] {
    guard count > 20_000, !isWhole else { return Array(0..<count) }
    return Array(0..<200) + stride(from: 200, to: count - 200, by: count / 150) + Array(count - 200..<count)
  }

  /// What ends an object or a list, Base64, and what stands around a file: also a typographic quotation mark in UTF-8.
  private static let closings = Set(Array("}]=\"'`;\\”".utf8))

  @Test("every cut of every file is refused, or holds whole what it is read as; none takes 0.1 s", arguments: 0..<8)
  func cuts(part: Int) throws {
    for (index, kind) in try FileKinds.all().enumerated() where index % 8 == part {
      var slowest = (seconds: 0.0, what: "")
      for count in Self.cuts(kind.data.count) {
        let (file, seconds) = Self.look(kind, kind.data.prefix(count), limit: Self.limit)
        if seconds > slowest.seconds { slowest = (seconds, "\(kind), cut at \(count) of \(kind.data.count)") }
        guard let file else { continue }
        // Cut behind the last thing that counts, or a text cut behind a whole block.
        let rest = kind.data.dropFirst(count)
        // In Base64, four characters hold three of them.
        let isPadding =
          rest.allSatisfy { $0 <= 0x20 || Self.closings.contains($0) }
          || "\(kind)".contains("Base64") && rest.count <= 8
        #expect(file.format == .pem || file.format == .text || isPadding, "\(kind), cut at \(count)")
      }
      #expect(slowest.seconds < Self.limit, "slowest: \(slowest.what)")
    }
  }

  @Test("changed bytes crash nothing, take no long time, and whatever is read can be shown", arguments: 0..<8)
  func changes(part: Int) throws {
    var numbers = SeededNumbers(seed: UInt64(part) + 40)
    for (index, kind) in try FileKinds.all().enumerated()
    where index % 8 == part && (1..<20_000).contains(kind.data.count) {
      for round in 0..<60 {
        var changed = kind.data
        for _ in 0..<Int.random(in: 1...4, using: &numbers) {
          let place = changed.startIndex + Int.random(in: 0..<changed.count, using: &numbers)
          switch Int.random(in: 0..<4, using: &numbers) {
          case 0: changed.insert(UInt8.random(in: 0...255, using: &numbers), at: place)
          case 1: if changed.count > 1 { changed.remove(at: place) }
          default: changed[place] = UInt8.random(in: 0...255, using: &numbers)
          }
        }
        let (file, seconds) = Self.look(kind, changed, limit: Self.costlyLimit)
        #expect(seconds < Self.costlyLimit, "\(kind), change \(round)")
        guard let file else { continue }
        _ = (
          file.lines(now: noon), JSONValue(written: CertificateFileAnswer(file, now: noon)).text(),
          file.warnings(now: noon)
        )
      }
    }
  }

  private static func nested(_ depth: Int, in content: [UInt8] = []) -> [UInt8] {
    // From the inside out, as tag and length in front; then turned round.
    var reversed = Array(content.reversed())
    for _ in 0..<depth {
      var length: [UInt8] = []
      var count = reversed.count
      if count < 0x80 {
        length = [UInt8(count)]
      } else {
        while count > 0 {
          length.append(UInt8(truncatingIfNeeded: count))
          count >>= 8
        }
        length.append(0x80 | UInt8(length.count))
      }
      reversed += length + [0x30]
    }
    return reversed.reversed()
  }

  private static func bombs() throws -> [(String, Data)] {
    let cms = Array(try Made().profile("hello"))
    var inner = cms
    for _ in 0..<6 { inner = Array(try Made().profile(String(decoding: inner, as: UTF8.self))) }
    let lengths: [[UInt8]] = [
      [0x30, 0x84, 0x7F, 0xFF, 0xFF, 0xFF], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x30, 0x85, 1, 0, 0, 0, 0],
      [0x30, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x30, 0xFF] + Array(repeating: 0xFF, count: 200),
      [0x30, 0x80], [0x30, 0x80, 0, 0], [0x30, 0x82, 0x10, 0x00, 0x04, 0x84, 0x7F, 0xFF, 0xFF, 0xFF],
      [0x3F, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [0x30, 0x03, 0x02, 0x84, 0x7F],
    ]
    let text = { (text: String) in Data(text.utf8) }
    let head = "<?xml version=\"1.0\"?>"
    return lengths.map { ("length \($0.prefix(8))", Data($0)) } + [
      ("10 000 levels", Data(nested(10_000))), ("100 000 levels", Data(nested(100_000))),
      ("open ends", Data((0..<500_000).flatMap { _ in [0x30, 0x80] as [UInt8] })),
      ("open ends of octets", Data([0x30, 0x80] + (0..<250_000).flatMap { _ in [0x24, 0x80] as [UInt8] })),
      (
        "a million small ones",
        Data(
          nested(
            1,
            in: Array(repeating: 0x05, count: 1).flatMap { _ in (0..<400_000).flatMap { _ in [0x05, 0x00] as [UInt8] } }
          ))
      ),
      ("signed in signed", Data(inner)),
      ("tags without end", try Made().profile(head + "<plist>" + String(repeating: "<dict", count: 100_000))),
      (
        "many keys",
        try Made().profile(
          head + "<plist><dict>" + String(repeating: "<key>a</key><string>b</string>", count: 15_000)
            + "</dict></plist>")
      ),
      ("doctypes", try Made().profile(head + String(repeating: "<!DOCTYPE ", count: 50_000))),
      (
        "laughs",
        try Made().profile(
          head + "<!DOCTYPE plist [" + (1..<20).map { "<!ENTITY a\($0) \"&a\($0 - 1);&a\($0 - 1);\">" }.joined()
            + "]><plist>&a19;</plist>")
      ),
      ("brackets", text(String(repeating: "{\"a\":", count: 100_000))),
      ("colons", text(String(repeating: "a:b\n", count: 200_000))),
      ("begins", text(String(repeating: "-----BEGIN CERTIFICATE-----\n", count: 30_000))),
      ("begins without line ends", text(String(repeating: "-----BEGIN CERTIFICATE-----", count: 30_000))),
      ("begin and end", text(String(repeating: "-----BEGIN X-----\n-----END X-----\n", count: 25_000))),
      ("one long line", text("-----BEGIN CERTIFICATE-----\n" + String(repeating: "A", count: 1_000_000))),
      ("Base64 of zeros", text("MI" + String(repeating: "A", count: 1_000_000))),
      ("blanks", text(String(repeating: " ", count: 1 << 20))),
      ("line ends", text(String(repeating: "\r", count: 1 << 20))),
      ("replacement characters", text(String(repeating: "\u{FFFD}", count: 300_000))),
      ("UTF-16 of nothing", Data([0xFF, 0xFE] + [UInt8](repeating: 0, count: 1_000_000))),
      ("zeros", Data(count: 1 << 20)), ("0xFF", Data(repeating: 0xFF, count: 1 << 20)),
    ]
  }

  @Test("nesting, lengths that lie, entities and endless repetition are refused in bounded time and memory")
  func bombs() throws {
    var before = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &before)
    for (name, data) in try Self.bombs() {
      let start = Self.cpu()
      for password in [nil, "x"] as [String?] {
        #expect(throws: FileProblem.self, "\(name)") { try CertificateFile.inspect(data: data, password: password) }
      }
      let seconds = Self.cpu() - start
      #expect(seconds < 8, "\(name): \(seconds) s")
    }
    var after = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &after)
    // In kilobytes. Other suites run beside this one, so the limit is wide; entities that grow would pass any.
    #expect(after.ru_maxrss - before.ru_maxrss < 600_000)
  }

  @Test("a file of 5 MB of any kind is refused unread")
  func large() throws {
    for kind in try FileKinds.all() where !kind.data.isEmpty {
      var data = kind.data
      while data.count < 5_000_000 { data.append(data.prefix(5_000_000 - data.count)) }
      let start = Self.cpu()
      #expect(throws: FileProblem.tooLarge(bytes: 5_000_000)) { try FileKindTests.inspect(kind, data) }
      #expect(Self.cpu() - start < Self.limit, "\(kind)")
    }
  }

  @Test("a .p12 whose rounds were raised to the limit tries a password once")
  func rounds() throws {
    let openssl = try OpenSSLCommand()
    try openssl.makeIdentity()
    try openssl(
      "pkcs12", "-export", "-in", "cert.pem", "-inkey", "key.pem", "-passout", "pass:x", "-out", "x.p12", "-iter",
      "1000000")
    let start = Self.cpu()
    #expect(throws: FileProblem.self) {
      try CertificateFile.inspect(data: openssl.data("x.p12"), password: "p\u{E4}ssw\u{F6}rd")
    }
    #expect(Self.cpu() - start < 30)
  }
}
