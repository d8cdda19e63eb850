import Glibc
import Reactor
import Testing

@testable import HTTPServer

@Suite("Router")
struct RouterTests {
  private func router() -> Router {
    var router = Router()
    router.get("/", name: "overview") { _ in .text("root") }
    router.get("/pushes", name: "pushes") { _ in .text("list") }
    router.on(.post, "/pushes", name: "create push") { _ in .text("made", status: .created) }
    router.get("/pushes/new") { _ in .text("form") }
    router.get("/pushes/:id") { request in .text("push \(try request.parameter("id", as: Int.self))") }
    router.get("/pushes/:id/deliveries/:device") { request in
      .text("\(request.parameters["id"] ?? "-") to \(request.parameters["device"] ?? "-") by \(request.route ?? "-")")
    }
    router.get("/files/*path") { request in .text("\(request.parameters.rest) \(request.parameters["path"] ?? "-")") }
    router.get("/files/special") { _ in .text("special") }
    return router
  }

  private func text(_ response: Response) -> String { String(decoding: response.body.bytes ?? [], as: UTF8.self) }

  @Test("an unsupported content coding is refused with the supported ones")
  func contentEncoding() async throws {
    var router = Router()
    router.on(.post, "/") { request in .text("\(try await request.body.collect(upTo: 100).count)") }
    for (coding, status) in [("gzip", 415), ("br, gzip", 415), ("identity", 200), ("Identity", 200)] {
      let request = try Request(
        .post, "/", headers: ["Content-Encoding": coding, "Content-Length": "4"], body: [1, 2, 3, 4])
      let response = await router.respond(to: request)
      #expect(response.status.code == status, "\(coding)")
      #expect(response.headers["Accept-Encoding"] == (status == 415 ? "identity" : nil))
    }
    // Without a body there is nothing to undo.
    let bare = try Request(.post, "/", headers: ["Content-Encoding": "gzip"])
    #expect(await router.respond(to: bare).status == .ok)
  }

  @Test("TRACE and QUERY are known, and allowed nowhere")
  func trace() async throws {
    var router = Router()
    router.get("/") { _ in .text("ok") }
    for method in ["TRACE", "QUERY"] as [HTTPServer.Method] {
      let response = await router.respond(to: try Request(method, "/"))
      #expect(response.status == .methodNotAllowed && response.headers["Allow"] == "GET, HEAD, OPTIONS")
    }
    #expect(await router.respond(to: try Request("BREW", "/")).status == .notImplemented)
  }

  @Test(
    "text wins over a variable, that over a rest",
    arguments: [
      ("/", "root"), ("/pushes", "list"), ("/pushes/new", "form"), ("/pushes/7", "push 7"), ("/pushes/%37", "push 7"),
      ("/pushes/a%2Fb/deliveries/c?x=1", "a/b to c by /pushes/:id/deliveries/:device"),
      ("/files/special", "special"), ("/files/a", "[\"a\"] a"), ("/files/a/b.css", "[\"a\", \"b.css\"] a/b.css"),
      ("/files/special/x", "[\"special\", \"x\"] special/x"),
    ])
  func matches(target: String, expected: String) async throws {
    let response = await router().respond(to: try Request(.get, target))
    #expect(response.status == .ok && text(response) == expected)
  }

  @Test(
    "several slashes are one, for the router and for everybody who reads the address; escaped ones stay",
    arguments: [
      ("//", "root", "/"), ("//pushes", "list", "/pushes"), ("/pushes///7?x=//", "push 7", "/pushes/7?x=//"),
      ("//files//a%2F%2Fb//c", "[\"a//b\", \"c\"] a//b/c", "/files/a%2F%2Fb/c"),
    ])
  func slashes(target: String, expected: String, address: String) async throws {
    let request = try Request(.get, target)
    let response = await router().respond(to: request)
    #expect(response.status == .ok && text(response) == expected)
    #expect(request.target == address && request.path == address.prefix { $0 != "?" })
  }

  @Test(
    "an address without a route is 404, also one whose parameter is no such value",
    arguments: [
      "/nothing", "/pushes/", "/pushes//deliveries/1", "/pushes/7/x", "/files", "/pushes/seven", "/pushes//",
      "/pushes/07", "/pushes/+7", "/pushes/%2B7", "/pushes/-0",
    ])
  func unknown(target: String) async throws {
    #expect(await router().respond(to: try Request(.get, target)).status == .notFound)
  }

  @Test("another method is 405 with the allowed ones; OPTIONS lists them; HEAD uses GET")
  func methods() async throws {
    let router = router()
    let refused = await router.respond(to: try Request(.delete, "/pushes"))
    #expect(refused.status == .methodNotAllowed && refused.headers["allow"] == "GET, HEAD, OPTIONS, POST")
    let listed = await router.respond(to: try Request(.options, "/pushes/7"))
    #expect(listed.status == .noContent && listed.headers["Allow"] == "GET, HEAD, OPTIONS")
    #expect(await router.respond(to: try Request(.head, "/pushes")).status == .ok)
    #expect(await router.respond(to: try Request("BREW", "/pushes")).status == .notImplemented)
    #expect(await router.respond(to: try Request(.options, "*")).headers["Allow"] == "GET, OPTIONS, POST")
  }

  @Test("the listing names every route in its order")
  func listing() {
    let lines = router().routes.map { "\($0.method) \($0.pattern) \($0.name ?? "-")" }
    #expect(lines.count == 8)
    #expect(lines[0] == "GET / overview" && lines[2] == "POST /pushes create push" && lines[4] == "GET /pushes/:id -")
  }

  @Test("a body is bounded by the route, and can be demanded")
  func bodies() async throws {
    var router = Router()
    router.on(.post, "/small", options: .init(bodyLimit: 3)) { request in
      .text("\(try await request.body.collect(upTo: 10).count)")
    }
    router.on(.post, "/needed", options: .init(requiresBody: true)) { _ in .text("ok") }
    #expect(await router.respond(to: try Request(.post, "/small", body: [1, 2, 3])).status == .ok)
    let announced = try Request(.post, "/small", headers: ["Content-Length": "4"], body: [1, 2, 3, 4])
    #expect(await router.respond(to: announced).status == .contentTooLarge)
    #expect(await router.respond(to: try Request(.post, "/needed")).status == .lengthRequired)
  }

  @Test("a shortage of descriptors is a temporary 503")
  func withoutDescriptors() async throws {
    var router = Router()
    router.get("/:number") { request in throw SystemError("open", number: try request.parameter("number")) }
    for (number, status) in [(EMFILE, Status.serviceUnavailable), (ENFILE, .serviceUnavailable), (EIO, 500)] {
      let answer = await router.respond(to: try Request(.get, "/\(number)"))
      #expect(answer.status == status)
      #expect(answer.headers["Retry-After"] == (status == .serviceUnavailable ? "5" : nil))
    }
  }

  private enum Name: RequestContextKey { typealias Value = String }

  @Test("middleware wraps routes and errors, the first added outermost, and leaves values for handlers")
  func middleware() async throws {
    var router = Router()
    for name in ["outer", "inner"] {
      router.use(
        Middleware(
          prepare: { request in
            request.context[Name.self] = (request.context[Name.self] ?? "") + name
            if request.path == "/\(name)" { throw HTTPError(.forbidden, "Not by \(name).") }
          },
          finish: { response, _ in response.headers["X-Way"] = name + " " + (response.headers["X-Way"] ?? "") }))
    }
    router.get("/hello") { request in .text(request.context[Name.self] ?? "-") }
    let hello = await router.respond(to: try Request(.get, "/hello"))
    #expect(text(hello) == "outerinner" && hello.headers["X-Way"] == "outer inner ")
    let inner = await router.respond(to: try Request(.get, "/inner"))
    #expect(inner.status == .forbidden && inner.headers["X-Way"] == "outer " && text(inner).contains("Not by inner."))
    let outer = await router.respond(to: try Request(.get, "/outer"))
    #expect(outer.status == .forbidden && outer.headers["X-Way"] == nil)
    let missing = await router.respond(to: try Request(.get, "/missing"))
    #expect(missing.status == .notFound && missing.headers["X-Way"] == "outer inner ")
  }

  @Test("a quick answer passes the middleware; without one, the handler answers; its errors are pages")
  func quick() async throws {
    var router = Router()
    router.use(Middleware(finish: { response, _ in response.headers["X-Way"] = "seen" }))
    router.on(
      .get, "/files/:name",
      quick: { request in
        if request.parameters["name"] == "gone" { throw HTTPError(410) }
        return request.parameters["name"] == "known" ? .text("quick") : nil
      }
    ) { _ in .text("slow") }
    for (name, status, expected) in [("known", 200, "quick"), ("new", 200, "slow"), ("gone", 410, "410 Gone\n")] {
      let answer = await router.respond(to: try Request(.get, "/files/\(name)"))
      #expect(answer.status.code == status && text(answer) == expected && answer.headers["X-Way"] == "seen")
    }
  }

  @Test("a request without a route has a handler of its own")
  func missing() async throws {
    var router = router()
    router.missing = { request in .text("nothing at \(request.path)", status: .notFound) }
    let answer = await router.respond(to: try Request(.get, "/nothing"))
    #expect(answer.status == .notFound && text(answer) == "nothing at /nothing")
  }
}
