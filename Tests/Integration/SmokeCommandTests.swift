import Foundation
import FoundationXML
import JSON
import Model
import OpenSSL
import Reactor
import Simulator
import Store
import Testing

@testable import signalbox

@Suite("signalbox smoke")
struct SmokeCommandTests {
  private let app = "com.example.shop"

  /// What a strict XML parser finds in a report.
  private final class Reader: NSObject, XMLParserDelegate {
    var names: [String] = []
    var failures: [String] = []
    var counts: [String: String] = [:]

    func parser(
      _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
      attributes: [String: String]
    ) {
      if name == "testsuites" { counts = attributes }
      if name == "testcase" { names.append(attributes["name"] ?? "") }
      if name == "failure" { failures.append(attributes["message"] ?? "") }
    }
  }

  @Test("runs by name and all of them, exits with 0 or 1, and writes JUnit XML that a parser takes")
  func runs() async throws {
    try await CommandRunner.with { box in
      let simulator = try PushSimulator()
      let port = try await simulator.start().development.port
      await box.run("apps", "add", app, "--name", "Shop")
      let key = try box.file("AuthKey_ABCDE12345.p8", try PrivateKey.generateP256().pkcs8PEM)
      await box.run(
        "certificates", "add", key, "--team-id", "TEAM123456", "--app", app, "--use-for", "development",
        "--endpoint", "127.0.0.1:\(port)", "--trust", try box.file("ca.pem", simulator.authorityPEM))
      let phone = try simulator.phones.add(NewPhone(name: "anna", environment: .development, topic: app))
      let line =
        #"{"app":"\#(app)","environment":"development","platform":"ios","token":"\#(phone.token.hexadecimal)","#
        + #""alias":"anna"}"# + "\n"
      await box.run("devices", "import", "-", "--format", "ndjson", input: line, now: Date())
      #expect(await box.run("smoke", "--all").code == 64, "there is none")
      let store = try DataDirectory(box.data).open(now: Date())
      try store.writeSync { database in
        for (name, answer) in [("Hello <&> \"1\"", "accepted"), ("Wrong", "BadTopic")] {
          var rule = Audience.Rule()
          rule.alias = ["anna"]
          var draft = PushDraft(
            app: app, environment: .development, platforms: [.ios], audience: .rule(rule),
            notification: PushNotification())
          draft.notification.body = "Hello"
          var expected = SmokeExpectation()
          expected.others = answer
          _ = try SmokeTest.create(
            database, SmokeTestContent(name: name, draft: draft, expected: expected),
            by: NewAuditEntry(actor: "test", action: "", subject: ""), now: Date())
        }
      }
      store.close()
      let green = await box.run(["smoke", "hello <&> \"1\""], now: Date())
      #expect(green.code == 0 && green.output.contains("passed: Hello"), "\(green)")
      let path = box.folder + "/smoke.xml"
      let red = await box.run(["smoke", "--all", "--junit", path], now: Date())
      #expect(red.code == 1 && red.output.contains("anna: expected BadTopic, got accepted") == false)
      #expect(red.output.contains("expected BadTopic, got accepted"), "\(red)")
      let reader = Reader()
      let parser = XMLParser(data: try Data(contentsOf: URL(fileURLWithPath: path)))
      parser.delegate = reader
      #expect(parser.parse(), "\(parser.parserError.map { "\($0)" } ?? "")")
      #expect(reader.names == ["Hello <&> \"1\"", "Wrong"] && reader.failures.count == 1)
      #expect(reader.counts["tests"] == "2" && reader.counts["failures"] == "1")
      let json = await box.run(["smoke", "Wrong", "--json"], now: Date())
      #expect(json.code == 1 && json.json?.array?.first?["differences"]?.array?.first?["got"] == "accepted")
      let listed = await box.run("smoke", "--list")
      #expect(listed.code == 0 && listed.output.contains("failed") && listed.output.contains("passed"))
      for words in [["smoke"], ["smoke", "None"], ["smoke", "Wrong", "--all"]] {
        #expect(await box.run(words).code == 64, "\(words)")
      }
      await simulator.stop()
    }
  }
}
