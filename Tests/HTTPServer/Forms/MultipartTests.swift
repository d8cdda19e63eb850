import Testing

@testable import HTTPServer

@Suite("Multipart forms")
struct MultipartTests {
  /// A form as events, joined so that the cutting of data does not show.
  private static func parse(
    _ input: [UInt8], boundary: String = "XX", pieces size: Int, limits: MultipartLimits = .init()
  ) -> String {
    var parser = MultipartParser(boundary: boundary, limits: limits)
    var text = ""
    var data: [UInt8] = []
    do {
      for start in stride(from: 0, to: input.count, by: size) {
        for event in try parser.feed(Array(input[start..<min(start + size, input.count)])) {
          switch event {
          case .part(let part): text += "[\(part.name)|\(part.fileName ?? "-")|\(part.contentType ?? "-")]"
          case .data(let bytes): data += bytes
          case .partEnd:
            text += String(decoding: data, as: UTF8.self).debugDescription
            data = []
          case .end: text += "."
          }
        }
      }
      try parser.finish()
      return text
    } catch {
      return "\(error.status.code)"
    }
  }

  private static let field = "Content-Disposition: form-data; name=\"a\"\r\n\r\n"

  @Test(
    "forms are read, or refused, in whatever pieces they come",
    arguments: [
      ("--XX\r\n\(field)1\r\n--XX--\r\n", "[a|-|-]\"1\"."),
      ("--XX\r\n\(field)1\r\n--XX\r\n\(field)2\r\n--XX--", "[a|-|-]\"1\"[a|-|-]\"2\"."),
      ("preamble\r\n--XX \t\r\n\(field)1\r\n--XX--epilogue --XX", "[a|-|-]\"1\"."),
      ("--XX\r\n\(field)\r\n--XX--", "[a|-|-]\"\"."),
      ("--XX\r\n\(field)--XX--", "[a|-|-]\"\"."),
      ("--XX--", "."),
      (
        "--XX\r\n\(field)\r\n--X\r\n-XX\r--XX\n--XX\r\n\r\n--XX--", "[a|-|-]\"\\r\\n--X\\r\\n-XX\\r--XX\\n--XX\\r\\n\"."
      ),
      ("--XX\r\n\(field)--X\r\n--XX--", "[a|-|-]\"--X\"."),
      (
        "--XX\r\ncontent-disposition: form-data; filename=\"/etc/C:\\x\\my %22key%22.p8\"; name=\"f\"\r\n"
          + "Content-Type: application/x\r\nX: y\r\n\r\nz\r\n--XX--",
        "[f|my \"key\".p8|application/x]\"z\"."
      ),
      ("--XX\r\nContent-Disposition: form-data; name=f; filename=\"\"\r\n\r\n\r\n--XX--", "[f||-]\"\"."),
      ("", "400"), ("--XX", "400"), ("--XX\r\n", "400"), ("--XX\r\n\(field)1", "400"),
      ("--XX\r\n\(field)1\r\n--XX", "400"),
      ("--XX\r\n\(field)1\r\n--XXX\r\n", "400"), ("--XX\r\n\(field)1\r\n--XX-\r\n", "400"),
      ("--XXy", "400"), ("--XX\r\n\r\n1\r\n--XX--", "400"), ("--XX\r\nX: 1\r\n\r\n1\r\n--XX--", "400"),
      ("--XX\r\nContent-Disposition: attachment; name=a\r\n\r\n1\r\n--XX--", "400"),
      ("--XX\r\nContent-Disposition: form-data\r\n\r\n1\r\n--XX--", "400"),
      ("--XX\r\nno colon\r\n\r\n1\r\n--XX--", "400"), ("--XX\r\nA : 1\r\n\(field)1\r\n--XX--", "400"),
      ("--XX\r\nX: \0\r\n\(field)1\r\n--XX--", "400"),
      ("--XX\r\n" + String(repeating: "X: 1\r\n", count: 2000) + "\(field)1\r\n--XX--", "431"),
      ("--XX\r\nX: " + String(repeating: "1", count: 9000), "431"),
    ])
  func forms(input: String, expected: String) {
    let bytes = Array(input.utf8)
    for size in [max(1, bytes.count), 1, 2, 3, 7] {
      #expect(Self.parse(bytes, pieces: size) == expected, "pieces of \(size)")
    }
  }

  @Test("limits hold to the byte")
  func limits() {
    let limits = MultipartLimits(parts: 2, partBytes: 5)
    for (content, expected) in [("12345", "[a|-|-]\"12345\"."), ("123456", "413")] {
      for size in [1, 1000] {
        let form = Array("--XX\r\n\(Self.field)\(content)\r\n--XX--".utf8)
        #expect(Self.parse(form, pieces: size, limits: limits) == expected)
      }
    }
    let part = "--XX\r\n\(Self.field)\r\n"
    #expect(Self.parse(Array("\(part)\(part)--XX--".utf8), pieces: 1, limits: limits) == "[a|-|-]\"\"[a|-|-]\"\".")
    #expect(Self.parse(Array("\(part)\(part)\(part)--XX--".utf8), pieces: 1, limits: limits) == "413")
  }

  @Test(
    "a boundary is what RFC 2046 allows",
    arguments: [
      ("multipart/form-data; boundary=abc", "abc"), ("Multipart/Form-Data; charset=x; Boundary=\"a b'c\"", "a b'c"),
      ("multipart/form-data; boundary=\(String(repeating: "a", count: 70))", String(repeating: "a", count: 70)),
      ("multipart/form-data; boundary=\(String(repeating: "a", count: 71))", nil), ("multipart/form-data", nil),
      ("multipart/form-data; boundary=", nil), ("multipart/form-data; boundary=\"\"", nil),
      ("multipart/form-data; boundary=\"a \"", nil), ("multipart/form-data; boundary=\"a;b\"", nil),
      ("multipart/mixed; boundary=a", nil),
    ] as [(String, String?)])
  func boundaries(type: String, boundary: String?) {
    #expect(MultipartParser.boundary(ofContentType: type) == boundary)
  }

  @Test("binary files of all bytes come through a real upload, cut anyhow, and by curl")
  func upload() async throws {
    let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 256) } + Array("\r\n--XX\r\n--X".utf8)
    var router = Router()
    router.on(.post, "/form", options: .init(bodyLimit: 1 << 20)) { request in
      let form = try await FormData(request)
      guard let file = form.file("file") else { throw HTTPError(.badRequest, "no file") }
      return .text("\(form["note"] ?? "-") \(file.part.fileName ?? "-") \(file.bytes.count) \(file.bytes == content)")
    }
    router.on(.post, "/stream", options: .init(bodyLimit: 1 << 20)) { request in
      var reader = try MultipartReader(request)
      var count = 0
      while let event = try await reader.next() { if case .data(let bytes) = event { count += bytes.count } }
      return .text("\(count)")
    }
    try await withServer(router) { server in
      let body =
        Array("--XX-\r\nContent-Disposition: form-data; name=note\r\n\r\nhi\r\n--XX-\r\n".utf8)
        + Array("Content-Disposition: form-data; name=file; filename=\"a b.bin\"\r\n\r\n".utf8) + content
        + Array("\r\n--XX---\r\n".utf8)
      let head =
        " HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=XX-\r\n"
        + "Content-Length: \(body.count)\r\n\r\n"
      let form = try await server.exchange(Array("POST /form\(head)".utf8) + body)
      #expect(form.body == "hi a b.bin 100011 true")
      let stream = try await server.exchange(Array("POST /stream\(head)".utf8) + body)
      #expect(stream.body == "100013")
      try await withFolder { folder in
        try write(content, to: folder + "/ü \"1\".bin")
        let output = try await server.run([
          "curl", "-s", "-F", "note=from curl", "-F", "file=@\"\(folder)/ü \\\"1\\\".bin\"", server.url + "/form",
        ])
        #expect(output == "from curl ü \"1\".bin 100011 true")
      }
      let other = try await server.run(["curl", "-s", "-d", "a=b", server.url + "/form"])
      #expect(other.hasPrefix("415"))
    }
  }
}
