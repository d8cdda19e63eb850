import Foundation
import HTTPServer
import JSON
import Store
import Testing

@testable import Console

/// A console that a proxy serves below a path.
@Suite("Below a path")
struct BasePathTests {
  private static let address = "https://example.com/ops/push"

  @Test("every link of every page begins with the path, what somebody typed does not change, and redirects follow")
  func pages() async throws {
    try await ConsoleScene.with(simulator: true, address: Self.address) { scene in
      let addresses = try await SceneWorld.demo.fill(scene)
      var anna = try await scene.signIn(.admin)
      for pattern in PageWalkTests.pages(scene) {
        for target in addresses.targets(pattern) {
          let answer = try await anna.get("/ops/push\(target)")
          if let location = answer.location { #expect(location.hasPrefix("/ops/push/"), "\(target): \(location)") }
          guard answer.type == "text/html" else { continue }
          #expect(answer.text.contains("<body data-base=\"/ops/push\""), "\(target)")
          for tag in ScenePage(answer.text).tags {
            for (name, value) in tag.attributes where value.hasPrefix("/") {
              let isLink = ["href", "src", "action", "formaction"].contains(name) || name.hasPrefix("data-")
              #expect(value.hasPrefix("/ops/push") == isLink, "\(target): <\(tag.name) \(name)=\(value)>")
            }
          }
        }
      }
    }
  }

  @Test("a proxy may pass the path on or not, and the path alone leads to the Overview")
  func proxies() async throws {
    try await ConsoleScene.with(address: Self.address) { scene in
      var anna = try await scene.signIn(.viewer)
      for target in ["/devices", "/ops/push/devices"] { #expect(try await anna.get(target).status == 200, "\(target)") }
      #expect(try await anna.get("/ops/push").location == "/ops/push/")
      #expect(try await anna.get("/ops/push/").status == 200)
      #expect(try await anna.get("/ops/pushing").status == 404)
      let call = try await scene.call(.get, "/ops/push/api/v1/apps", as: .viewer)
      #expect(call.status == 200)
      var stranger = SceneBrowser(router: scene.router)
      let sent = try await stranger.get("/ops/push/devices?app=x")
      #expect(sent.location == "/ops/push/session/new?return=/devices%3Fapp%3Dx")
    }
  }

  @Test("forms from the path's own pages are this site's")
  func origin() throws {
    let address = PublicAddress(Self.address)
    let request = try Request(.post, "/devices", headers: ["Host": "10.0.0.9"])
    #expect(address.isOrigin("https://example.com", of: request))
    #expect(!address.isOrigin("https://example.com.evil", of: request))
    #expect(!address.isOrigin("https://other.example", of: request))
  }

  @Test("without a path nothing is changed")
  func none() {
    var response = Response(
      headers: ["Content-Type": "text/html", "Location": "/x"], body: .bytes(Array("<a href=\"/x\">".utf8)))
    BasePath("https://example.com").add(to: &response)
    #expect(response.headers["Location"] == "/x")
    #expect(response.body.bytes == Array("<a href=\"/x\">".utf8))
  }
}
