import Foundation
import Reactor
import Testing

@testable import HTTPServer

func write(_ bytes: [UInt8], to path: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }

@Suite("Static files")
struct StaticFilesTests {
  /// A folder `public` with files in it, and a secret beside it.
  private func withFiles(_ body: (Router, String) async throws -> Void) async throws {
    try await withFolder { folder in
      let manager = FileManager.default
      for name in ["public/css", "public/.git", "public-old"] {
        try manager.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
      }
      for (name, text) in [
        ("public/css/style.css", "body{}"), ("public/a..b.txt", "dots"), ("public/.env", "secret"),
        ("public/.git/config", "secret"), ("secret.txt", "secret"), ("public-old/old.txt", "secret"),
        ("public/empty.txt", ""), ("public/ü x.txt", "umlaut"), ("public/odd.xyz", "odd"),
      ] {
        try write(Array(text.utf8), to: "\(folder)/\(name)")
      }
      try write((0..<200_000).map { UInt8(truncatingIfNeeded: $0) }, to: "\(folder)/public/large.bin")
      for (link, target) in [
        ("out.txt", "../secret.txt"), ("old.txt", "../public-old/old.txt"), ("up", ".."), ("in.css", "css/style.css"),
        ("loop", "loop"), ("zero", "/dev/zero"), ("git", ".git"),
      ] {
        try manager.createSymbolicLink(atPath: "\(folder)/public/\(link)", withDestinationPath: target)
      }
      #expect(mkfifo("\(folder)/public/pipe", 0o600) == 0)
      let pool = BlockingPool(name: "files", threads: 1)
      defer { pool.stop() }
      let files = try StaticFiles(root: folder + "/public", cacheControl: "max-age=60", pool: pool)
      var router = Router()
      router.serve(files, at: "/*path")
      try await body(router, folder)
    }
  }

  private func get(_ router: Router, _ target: String, _ headers: Headers = [:], method: HTTPServer.Method = .get)
    async throws -> Response
  {
    await router.respond(to: try Request(method, target, headers: headers))
  }

  @Test("a file that was cut short meanwhile is an error that says so")
  func cutShort() async throws {
    try await withFolder { folder in
      let path = folder + "/short.txt"
      try write([1, 2, 3], to: path)
      let error = #expect(throws: SystemError.self) {
        try OpenFile(descriptor: open(path, O_RDONLY), size: 4, keepsBytes: true)
      }
      #expect(error?.number == EIO)
    }
  }

  @Test("files are served with type, tag, date and policy")
  func files() async throws {
    try await withFiles { router, _ in
      let style = try await get(router, "/css/style.css")
      #expect(style.status == .ok && style.body.bytes == Array("body{}".utf8))
      #expect(style.headers["Content-Type"] == "text/css; charset=utf-8")
      #expect(
        style.headers["Cache-Control"] == "max-age=60" && style.headers["Last-Modified"]?.hasSuffix(" GMT") == true)
      let tag = try #require(style.headers["ETag"])
      #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.count > 4)
      for (target, text, type) in [
        ("/in.css", "body{}", "text/css; charset=utf-8"), ("/a..b.txt", "dots", "text/plain; charset=utf-8"),
        ("/empty.txt", "", "text/plain; charset=utf-8"), ("/%C3%BC%20x.txt", "umlaut", "text/plain; charset=utf-8"),
        ("/odd.xyz", "odd", "application/octet-stream"),
      ] {
        let file = try await get(router, target)
        #expect(file.body.bytes == Array(text.utf8) && file.headers["Content-Type"] == type, "\(target)")
      }
    }
  }

  @Test(
    "nothing outside, hidden or without content is served",
    arguments: [
      "/out.txt", "/old.txt", "/up/secret.txt", "/up/public/a..b.txt", "/loop", "/zero", "/pipe", "/css", "/css/", "/",
      "/.env", "/.git/config", "/git/config", "/nothing", "/css%2Fstyle.css", "/..%2Fsecret.txt", "/css/style.css/",
      "/a..b.txt/x", "/...",
    ])
  func refused(target: String) async throws {
    try await withFiles { router, _ in
      let response = try await get(router, target)
      // A link inside may go up and come back: it stays below the root. A link to a hidden folder stays there too.
      if target == "/up/public/a..b.txt" || target == "/git/config" { return }
      #expect(response.status == .notFound, "\(target)")
    }
  }

  @Test("a file in memory is answered at once, for its own address only")
  func quick() async throws {
    try await withFolder { folder in
      try FileManager.default.createDirectory(atPath: folder + "/css", withIntermediateDirectories: true)
      try write(Array("body{}".utf8), to: folder + "/css/style.css")
      let pool = BlockingPool(name: "files", threads: 1)
      defer { pool.stop() }
      let files = try StaticFiles(root: folder, pool: pool)
      func quick(_ target: String, _ headers: Headers = [:]) throws -> Response? {
        try files.quickResponse(to: try Request(.get, target, headers: headers))
      }
      #expect(try quick("/css/style.css") == nil)
      var found: Response?
      // It may be kept for so short a time that a busy machine misses it.
      while found == nil {
        _ = try await files.response(to: try Request(.get, "/"), path: ["css", "style.css"])
        found = try quick("/css/style.css")
      }
      #expect(found?.body.bytes == Array("body{}".utf8) && found?.headers["Cache-Control"] == "no-cache")
      for target in ["/css%2Fstyle.css", "/css/style.css/", "/css", "/", "/style.css"] {
        #expect(try quick(target) == nil, "\(target)")
      }
    }
  }

  @Test("a browser that has the file gets 304")
  func conditional() async throws {
    try await withFiles { router, _ in
      let style = try await get(router, "/css/style.css")
      let tag = try #require(style.headers["ETag"])
      let date = try #require(style.headers["Last-Modified"])
      let long = "Thu, 01 Jan 1970 00:00:00 GMT"
      for (headers, isFresh) in [
        (["If-None-Match": tag], true), (["If-None-Match": "\"x\", W/\(tag)"], true), (["If-None-Match": "*"], true),
        (["If-None-Match": "\"x\""], false), (["If-Modified-Since": date], true), (["If-Modified-Since": long], false),
        (["If-Modified-Since": "garbage"], false), (["If-None-Match": "\"x\"", "If-Modified-Since": date], false),
      ] as [(Headers, Bool)] {
        let response = try await get(router, "/css/style.css", headers)
        #expect((response.status == .notModified) == isFresh, "\(headers)")
        #expect(response.headers["ETag"] == tag && response.headers["Last-Modified"] == date)
        #expect(response.headers["Cache-Control"] == "max-age=60")
        #expect((response.headers["Content-Type"] == nil) == isFresh && (response.body.bytes == nil) == isFresh)
      }
    }
  }

  @Test("a request for another state of the file is refused with 412")
  func preconditions() async throws {
    try await withFiles { router, _ in
      let style = try await get(router, "/css/style.css")
      let tag = try #require(style.headers["ETag"])
      let date = try #require(style.headers["Last-Modified"])
      let long = "Thu, 01 Jan 1970 00:00:00 GMT"
      for (headers, status) in [
        (["If-Match": tag], 200), (["If-Match": "\"x\", \(tag)"], 200), (["If-Match": "*"], 200),
        (["If-Match": "\"x\""], 412), (["If-Match": "W/\(tag)"], 412), (["If-Match": ""], 412),
        (["If-Unmodified-Since": date], 200), (["If-Unmodified-Since": long], 412),
        (["If-Unmodified-Since": "garbage"], 200), (["If-Match": tag, "If-Unmodified-Since": long], 200),
        (["If-Match": "\"x\"", "If-None-Match": tag], 412), (["If-Match": tag, "If-None-Match": tag], 304),
        (["If-Match": "\"x\"", "Range": "bytes=0-1"], 412), (["If-Match": tag, "Range": "bytes=0-1"], 206),
      ] as [(Headers, Int)] {
        for method in [HTTPServer.Method.get, .head] {
          let response = try await get(router, "/css/style.css", headers, method: method)
          let expected = status == 206 && method == .head ? 200 : status
          #expect(response.status.code == expected, "\(method) \(headers)")
          if status == 412 { #expect(response.headers["ETag"] == tag) }
        }
      }
      #expect(try await get(router, "/none.css", ["If-Match": "*"]).status == .notFound)
    }
  }

  @Test("texts are compressed once, and again when they change; large ones too")
  func compressed() async throws {
    try await withFiles { router, folder in
      for (name, count) in [("small.js", 200), ("large.json", 6000)] {
        let (file, target) = ("\(folder)/public/\(name)", "/\(name)")
        try write(Array(String(repeating: "// the same again\n", count: count).utf8), to: file)
        let packed = try await get(router, target, ["Accept-Encoding": "gzip"])
        #expect(packed.headers["Content-Encoding"] == "gzip", "\(name)")
        #expect(try #require(packed.body.bytes).count < count * 2, "\(name)")
        let plain = try await get(router, target)
        #expect(plain.headers["Content-Encoding"] == nil && plain.headers["ETag"] != packed.headers["ETag"])
        #expect(plain.headers["Vary"] == "Accept-Encoding")
        let part = try await get(router, target, ["Accept-Encoding": "gzip", "Range": "bytes=0-9"])
        #expect(part.status == .partialContent && part.headers["Content-Encoding"] == nil)
        try write(Array(String(repeating: "// something else\n", count: count).utf8), to: file)
        var after = packed
        // The old one may be kept for a second.
        while after.headers["ETag"] == packed.headers["ETag"] {
          after = try await get(router, target, ["Accept-Encoding": "gzip"])
        }
        #expect(after.body.bytes != packed.body.bytes && after.headers["Content-Encoding"] == "gzip", "\(name)")
      }
      let picture = try await get(router, "/large.bin", ["Accept-Encoding": "gzip"])
      #expect(picture.headers["Content-Encoding"] == nil && picture.headers["Vary"] == nil)
    }
  }

  @Test("a part of a file is sent on demand")
  func ranges() async throws {
    try await withFiles { router, _ in
      let part = try await get(router, "/css/style.css", ["Range": "bytes=1-3"])
      #expect(part.status == .partialContent && part.body.bytes == Array("ody".utf8))
      #expect(part.headers["Content-Range"] == "bytes 1-3/6")
      let beyond = try await get(router, "/css/style.css", ["Range": "bytes=6-"])
      #expect(beyond.status == .rangeNotSatisfiable && beyond.headers["Content-Range"] == "bytes */6")
      #expect(try await get(router, "/css/style.css", ["Range": "bytes=0-1,3-4"]).status == .ok)
      #expect(try await get(router, "/css/style.css", ["Range": "bytes=0-1"], method: .head).status == .ok)
      let tag = try #require(part.headers["ETag"])
      #expect(
        try await get(router, "/css/style.css", ["Range": "bytes=0-1", "If-Range": tag]).status == .partialContent)
      #expect(try await get(router, "/css/style.css", ["Range": "bytes=0-1", "If-Range": "\"x\""]).status == .ok)
      #expect(try await get(router, "/css/style.css", ["Range": "bytes=0-1", "If-Range": "W/\(tag)"]).status == .ok)
    }
  }

  @Test("a changed file is seen, with another tag")
  func changes() async throws {
    try await withFiles { router, folder in
      let before = try await get(router, "/css/style.css").headers["ETag"]
      try write(Array("body{color:red}".utf8), to: folder + "/public/css/style.css")
      var after = try await get(router, "/css/style.css")
      // The old one may be kept for a second.
      while after.headers["ETag"] == before { after = try await get(router, "/css/style.css") }
      #expect(after.body.bytes == Array("body{color:red}".utf8))
    }
  }

  @Test("large files and ranges of them arrive whole, by curl too")
  func large() async throws {
    try await withFiles { router, folder in
      let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
      try await withServer(router) { server in
        let whole = try await server.exchange("GET /large.bin HTTP/1.0\r\n\r\n")
        #expect(Array(whole.bytes.suffix(200_000)) == content)
        let part = try await server.exchange("GET /large.bin HTTP/1.0\r\nRange: bytes=100-150099\r\n\r\n")
        #expect(part.statuses == [206] && Array(part.bytes.suffix(150_000)) == Array(content[100..<150_100]))
        _ = try await server.run(["curl", "-s", "-r", "0-99999", "-o", folder + "/got", server.url + "/large.bin"])
        _ = try await server.run(["curl", "-s", "-C", "100000", "-o", folder + "/rest", server.url + "/large.bin"])
        let got = try Data(contentsOf: URL(fileURLWithPath: folder + "/got"))
        #expect(got == Data(content.prefix(100_000)))
      }
    }
  }
}
