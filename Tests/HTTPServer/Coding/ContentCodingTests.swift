import Foundation
import Reactor
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Compressed answers")
struct ContentCodingTests {
  /// What curl received, and the head that came with it.
  private struct Received {
    let head: String
    let body: [UInt8]

    func field(_ name: String) -> String? {
      head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ":") }.map {
        $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
      }
    }
  }

  private static let text = String(repeating: "the same words again and again, ", count: 100)

  private static func router() -> Router {
    var router = Router()
    router.get("/long") { _ in .text(text) }
    router.get("/short") { _ in .text("short") }
    router.get("/large") { _ in .text(String(repeating: text, count: 200)) }
    router.get("/picture") { _ in
      Response(headers: ["Content-Type": "image/png"], body: .bytes(Array(text.utf8)))
    }
    router.get("/kept") { _ in
      var response = Response.text(text)
      response.headers.append("Cache-Control", "no-store, no-transform")
      return response
    }
    for (name, tag) in [("strong", "\"a\""), ("weak", "W/\"a\"")] {
      router.get("/" + name) { _ in
        var response = Response.text(text)
        response.headers.append("ETag", tag)
        return response
      }
    }
    router.get("/missing") { _ in throw HTTPError(.notFound, text) }
    router.get("/events") { _ in
      .events { stream in
        try await stream.send(ServerSentEvent(data: String(repeating: "x", count: 4000), event: "tick"))
      }
    }
    router.get("/stream") { _ in
      Response(headers: ["Content-Type": "text/csv"], body: .stream(length: nil) { try await $0.write(text) })
    }
    return router
  }

  /// Asks over a socket; the body as it came.
  private func ask(
    _ server: TestServer, _ target: String, _ coding: String? = "gzip", method: String = "GET", site: String? = nil
  ) async throws -> Received {
    let accept =
      (coding.map { "Accept-Encoding: \($0)\r\n" } ?? "") + (site.map { "Sec-Fetch-Site: \($0)\r\n" } ?? "")
    let answer = try await server.exchange(
      "\(method) \(target) HTTP/1.0\r\nHost: a\r\n\(accept)Connection: close\r\n\r\n")
    let bytes = answer.bytes
    let end = try #require(bytes.firstRange(of: Array("\r\n\r\n".utf8)))
    return Received(
      head: String(decoding: bytes[..<end.lowerBound], as: UTF8.self), body: Array(bytes[end.upperBound...]))
  }

  /// By the system's own program.
  private func unpacked(_ bytes: [UInt8]) async throws -> [UInt8] {
    try await withFolder { folder in
      try write(bytes, to: folder + "/x.gz")
      try OtherProgram.runNow("gzip", ["-d", folder + "/x.gz"])
      return Array(try Data(contentsOf: URL(fileURLWithPath: folder + "/x")))
    }
  }

  @Test("a text of more than a kilobyte is compressed for clients that accept gzip")
  func texts() async throws {
    try await withServer(Self.router()) { server in
      for (target, size) in [("/long", 3200), ("/large", 640_000)] {
        let packed = try await ask(server, target, "deflate, gzip;q=0.5, br")
        #expect(packed.field("Content-Encoding") == "gzip" && packed.field("Vary") == "Accept-Encoding")
        #expect(packed.field("Content-Length") == "\(packed.body.count)" && packed.body.count < size / 20)
        #expect(try await unpacked(packed.body).count == size)
        let head = try await ask(server, target, method: "HEAD")
        #expect(head.body == [] && head.field("Content-Length") == "\(packed.body.count)")
      }
      #expect(try await unpacked(try await ask(server, "/long").body) == Array(Self.text.utf8))
      #expect(try await ask(server, "/weak").field("Content-Encoding") == "gzip")
      let missing = try await ask(server, "/missing")
      #expect(missing.head.contains("404 Not Found") && missing.field("Content-Encoding") == "gzip")
    }
  }

  @Test("other clients get the plain bytes, and caches are told of the negotiation")
  func refused() async throws {
    try await withServer(Self.router()) { server in
      for coding in [nil, "", "identity", "br", "gzip;q=0", "gzip; q=0.000, *", "*;q=0"] {
        let plain = try await ask(server, "/long", coding)
        #expect(plain.field("Content-Encoding") == nil && plain.body == Array(Self.text.utf8), "\(coding ?? "-")")
        #expect(plain.field("Vary") == "Accept-Encoding")
      }
      for coding in ["*", "x-gzip", "GZIP", "br;q=1, *;q=0.1", "identity;q=0, gzip"] {
        #expect(try await ask(server, "/long", coding).field("Content-Encoding") == "gzip", "\(coding)")
      }
    }
  }

  @Test("short texts, pictures, events, streams and what forbids it stay as they are")
  func untouched() async throws {
    try await withServer(Self.router()) { server in
      for target in ["/short", "/picture", "/kept", "/strong", "/events", "/stream"] {
        let answer = try await ask(server, target)
        #expect(answer.head.contains("200 OK") && answer.field("Content-Encoding") == nil, "\(target)")
        #expect(answer.field("Vary") == nil, "\(target)")
      }
    }
  }

  @Test("what another site made the browser ask for is not compressed")
  func otherSites() async throws {
    try await withServer(Self.router()) { server in
      for (site, isPacked) in [("cross-site", false), ("same-site", false), ("same-origin", true), ("none", true)] {
        let answer = try await ask(server, "/long", site: site)
        #expect((answer.field("Content-Encoding") == "gzip") == isPacked, "\(site)")
      }
    }
  }

  @Test("a large text lets other connections go on while it is compressed")
  func turns() async throws {
    var router = Router()
    let text = String(repeating: Self.text, count: 3000)
    router.get("/large") { _ in .text(text) }
    try await withServer(router) { server in
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<4 { group.addTask { try await self.ask(server, "/large").body.count } }
        var sizes: Set<Int> = []
        for try await size in group { sizes.insert(size) }
        // Each through an encoder of its own.
        #expect(sizes.count == 1)
      }
    }
  }
}

@Suite("Assets")
struct AssetFolderTests {
  private func withAssets(_ body: (AssetFolder, String) async throws -> Void) async throws {
    try await withFolder { folder in
      for name in ["public/js/.git", "public/css"] {
        try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
      }
      try write(Array(String(repeating: "p{color:red}", count: 200).utf8), to: folder + "/public/css/a.css")
      try write(Array("import './b.js'".utf8), to: folder + "/public/js/a.js")
      for hidden in ["public/js/.hidden", "public/js/.git/x", "public/secret", "outside"] {
        try write(Array("secret".utf8), to: "\(folder)/\(hidden)")
      }
      try FileManager.default.createSymbolicLink(
        atPath: folder + "/public/js/link.js", withDestinationPath: folder + "/outside")
      try await body(try AssetFolder(root: folder + "/public", folders: ["css", "js"]), folder)
    }
  }

  private func get(_ assets: AssetFolder, _ path: String, version: String? = nil, _ headers: Headers = [:]) throws
    -> Response?
  {
    try assets.response(
      to: try Request(.get, "/", headers: headers),
      version: version ?? String(assets.prefix.dropFirst("/assets/".count)),
      path: path.split(separator: "/").map(String.init))
  }

  @Test("browsers may keep them for good, under an address that changes with any of them")
  func addresses() async throws {
    try await withAssets { assets, folder in
      #expect(assets.prefix.count == "/assets/".count + 16)
      let style = try #require(try get(assets, "css/a.css"))
      #expect(style.headers["Cache-Control"] == "public, max-age=31536000, immutable")
      #expect(style.headers["Content-Type"] == "text/css; charset=utf-8" && style.body.bytes?.count == 2400)
      // The tag tells as much.
      #expect(style.headers["Last-Modified"] == nil && style.headers["Accept-Ranges"] == nil)
      // A page from before an update.
      #expect(try get(assets, "css/a.css", version: "0123456789abcdef")?.headers["Cache-Control"] == "no-cache")
      #expect(try AssetFolder(root: folder + "/public", folders: ["css", "js"]).prefix == assets.prefix)
      try write(Array("import './c.js'".utf8), to: folder + "/public/js/a.js")
      let changed = try AssetFolder(root: folder + "/public", folders: ["css", "js"])
      #expect(changed.prefix != assets.prefix)
      // What was read at the start is what its address stands for.
      #expect(try get(assets, "js/a.js")?.body.bytes == Array("import './b.js'".utf8))
    }
  }

  @Test(
    "a style sheet loses comments and white space that separates nothing",
    arguments: [
      (
        "/* a */ p , q > a :hover {\n  color : red ;\n  margin: 0 auto;\n}\n",
        "p,q>a :hover{color :red;margin:0 auto}"
      ),
      ("a { width: calc(1px + 2px - 3px) }", "a{width:calc(1px + 2px - 3px)}"),
      (
        "a::before { content: \" /* no  comment */ ; } \\\" \" ; }",
        "a::before{content:\" /* no  comment */ ; } \\\" \"}"
      ),
      ("a { background: url(a.svg)  /**/ center }", "a{background:url(a.svg) center}"),
      ("@media (max-width: 40rem) and (hover) { a { b: c; } }", "@media (max-width:40rem) and (hover){a{b:c}}"),
      ("a{content:'never ended", "a{content:'never ended"), ("/* never ended", ""), ("", ""),
    ])
  func style(source: String, packed: String) {
    #expect(String(decoding: StyleSheet.packed(Array(source.utf8)), as: UTF8.self) == packed)
  }

  @Test("scripts beside the core are joined, under an address that changes with any of their modules")
  func scripts() async throws {
    try await withAssets { _, folder in
      let script = String(repeating: "run(one);\n", count: 100)
      for (name, text) in [
        ("core", "import { one } from './part.js';\n" + script), ("part", "// One.\nexport const one = 1;\n"),
        ("more", "import { one } from './part.js';\n" + script),
      ] {
        try write(Array(text.utf8), to: folder + "/public/js/\(name).js")
      }
      func assets() throws -> AssetFolder {
        try AssetFolder(root: folder + "/public", folders: ["css", "js"], core: "js/core.js")
      }
      let first = try assets()
      func text(_ assets: AssetFolder, _ path: String) throws -> String {
        String(decoding: try #require(try get(assets, path)?.body.bytes), as: UTF8.self)
      }
      #expect(try text(first, "js/core.js").hasSuffix("run(one);\nexport { $part };\n"))
      #expect(try text(first, "js/more.js").hasPrefix("import { $part } from './core.js';\n"))
      #expect(try !text(first, "js/core.js").contains("// One."))
      // Served as they are: a module of the core, one that cannot be read, and what is no script.
      #expect(try text(first, "js/part.js") == "// One.\nexport const one = 1;\n")
      #expect(try text(first, "js/a.js") == "import './b.js'" && text(first, "css/a.css").hasPrefix("p{color:red}"))
      let packed = try #require(try get(first, "js/core.js", ["Accept-Encoding": "gzip"]))
      #expect(packed.headers["Content-Encoding"] == "gzip" && packed.headers["ETag"]?.hasSuffix("-gzip\"") == true)
      try write(Array("export const one = 2;\n".utf8), to: folder + "/public/js/part.js")
      let second = try assets()
      #expect(try second.prefix != first.prefix && text(second, "js/core.js").contains("const one = 2;"))
    }
  }

  @Test("nothing hidden, outside, or from another folder")
  func refused() async throws {
    try await withAssets { assets, _ in
      for path in ["js/.hidden", "js/.git/x", "secret", "js/link.js", "js", "js/none.js", ""] {
        let response = try get(assets, path)
        #expect(response == nil, "\(path)")
      }
    }
  }

  @Test("compressed once, with its own tag, and plain for a part of it")
  func coded() async throws {
    try await withAssets { assets, _ in
      let packed = try #require(try get(assets, "css/a.css", ["Accept-Encoding": "gzip"]))
      #expect(packed.headers["Content-Encoding"] == "gzip" && packed.headers["Vary"] == "Accept-Encoding")
      #expect(try #require(packed.body.bytes).count < 200)
      let plain = try #require(try get(assets, "css/a.css"))
      #expect(plain.headers["Content-Encoding"] == nil && plain.headers["Vary"] == "Accept-Encoding")
      let (tag, other) = (try #require(packed.headers["ETag"]), try #require(plain.headers["ETag"]))
      #expect(tag != other)
      let known = try get(assets, "css/a.css", ["Accept-Encoding": "gzip", "If-None-Match": tag])
      #expect(known?.status == .notModified && known?.headers["ETag"] == tag)
      let part = try get(assets, "css/a.css", ["Accept-Encoding": "gzip", "Range": "bytes=0-9"])
      #expect(part?.status == .partialContent && part?.body.bytes?.count == 10)
      #expect(part?.headers["Content-Encoding"] == nil && part?.headers["ETag"] == other)
      #expect(try get(assets, "js/a.js", ["Accept-Encoding": "gzip"])?.headers["Content-Encoding"] == nil, "too short")
    }
  }
}
