import Testing

@testable import HTTPServer

@Suite("Hostile requests")
struct HostileRequestTests {
  @Test("there are enough of them, each under its own name")
  func count() {
    #expect(HostileRequest.all.count >= 120)
    let names = HostileRequest.all.map(\.name)
    #expect(Set(names).count >= names.count - 2)
  }

  @Test("the parser says the same whole, byte by byte, and behind another request", arguments: HostileRequest.all)
  func pieces(request: HostileRequest) {
    let (transcript, problems) = ParserVerifier.verify(request.bytes)
    #expect(problems == [])
    // 405, 404, 501 for methods, and 413 for the route's limit are the router's to say.
    if let failure = transcript.failure { #expect(failure.code == request.status && request.closes) }
  }

  @Test("over a socket each gets its status, and no second answer once the connection is to end")
  func answers() async throws {
    var router = Router()
    router.get("/") { _ in .text("ok") }
    router.get("/after") { _ in .text("after") }
    router.on(.post, "/", options: .init(bodyLimit: 1000)) { request in
      .text("\(try await request.body.collect(upTo: 2000).count)")
    }
    try await withServer(router) { server in
      for request in HostileRequest.all {
        let after = Array("GET /after HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8)
        let answer = try await server.exchange(request.bytes + after)
        let expected = request.closes ? [request.status] : [request.status, 200]
        #expect(answer.statuses == expected, "\(request.name): \(answer.text)")
        #expect(answer.text.contains("Connection: close"), "\(request.name)")
      }
    }
  }
}
