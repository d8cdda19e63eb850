import Foundation
import Glibc
import HTTPServer
import JSON
import OpenSSL
import Model
import Reactor
import TestSupport
import Testing

@testable import signalbox

/// `signalbox simulate` as a job of another project uses it: the program itself, and curl.
@Suite("signalbox simulate", .timeLimit(.minutes(3)))
struct SimulateCommandTests {
  private static let topic = "com.example.app"
  private static let keyID = "ABCDE12345"
  private static let token = String(repeating: "0a", count: 32)

  /// A simulator that runs, and what it said of itself.
  private struct Running {
    let box: CommandRunner
    let child: Child
    let development: String
    let production: String
    let control: String

    /// Posts a push with curl, as `PROTOCOLS` shows; gives body and status.
    func push(
      _ bearer: String, to address: String, trusting authority: String, title: String = "Hello"
    ) async throws -> String {
      let port = address.split(separator: ":").last ?? ""
      return try await curl(
        "--http2", "--cacert", authority, "--resolve", "push.test:\(port):127.0.0.1", "-w", "%{http_code}",
        "-H", "authorization: bearer \(bearer)", "-H", "apns-topic: \(SimulateCommandTests.topic)", "-H",
        "apns-push-type: alert", "-d", #"{"aps":{"alert":{"title":"\#(title)"}}}"#,
        "https://push.test:\(port)/3/device/\(SimulateCommandTests.token)")
    }

    func curl(_ words: String...) async throws -> String {
      let curl = try Child(["curl", "-sS", "--max-time", "60"] + words, in: box.folder)
      let status = await curl.status()
      return curl.outputText + (status == 0 ? "" : " (curl: \(status)) \(curl.errorText)")
    }

    func json(_ path: String, _ words: String...) async throws -> JSONValue {
      let curl = try Child(["curl", "-sS", "--max-time", "60"] + words + [control + path], in: box.folder)
      _ = await curl.status()
      return try JSONValue(parsing: Data(curl.outputText.utf8))
    }

    /// Ends it, and gives the last line of its output.
    func stop() async throws -> JSONValue {
      child.send(SIGTERM)
      #expect(await child.status() == 0)
      return try JSONValue(parsing: Data((child.outputText.split(separator: "\n").last ?? "").utf8))
    }
  }

  private static func start(_ box: CommandRunner, _ words: [String]) async throws -> Running {
    let child = try Child(
      [
        try Child.signalbox(), "simulate", "--apns-listen", "127.0.0.1:0", "--apns-production-listen", "127.0.0.1:0",
        "--fcm-listen", "127.0.0.1:0", "--jpush-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0",
      ] + words, in: box.folder)
    try await eventually("simulate listens") {
      guard child.isRunning else { throw SceneError("simulate ended: \(child.errorText)") }
      return child.errorText.contains("/simulator/v1\n")
    }
    let said = child.errorText
    func word(after text: String) throws -> String {
      let start = try #require(said.range(of: text)?.upperBound)
      return String(said[start...].prefix { !", \n".contains($0) })
    }
    return Running(
      box: box, child: child, development: try word(after: "development at "),
      production: try word(after: "production at "), control: try word(after: "control API at "))
  }

  private static func bearer(_ key: PrivateKey) throws -> String {
    try JSONWebToken.sign(
      .es256, key: key, header: [("kid", .string(keyID))],
      claims: [("iss", .string("TEAM123456")), ("iat", .integer(Int64(Date().timeIntervalSince1970)))])
  }

  @Test("a token in both environments, a name, one key; what arrived is asserted by curl; counters at the end")
  func job() async throws {
    try await CommandRunner.with { box in
      let key = try PrivateKey.generateP256()
      let file = try box.file("AuthKey_\(Self.keyID).p8", key.pkcs8PEM)
      let running = try await Self.start(
        box,
        ["--device", Self.token, "--topic", Self.topic, "--name", "push.test", "--ca-out", "ca.pem", "--key", file])
      let good = try Self.bearer(key)
      #expect(try await running.push(good, to: running.development, trusting: "ca.pem", title: "One") == "200")
      #expect(try await running.push(good, to: running.production, trusting: "ca.pem", title: "Two") == "200")
      let stranger = try Self.bearer(try PrivateKey.generateP256())
      #expect(
        try await running.push(stranger, to: running.development, trusting: "ca.pem")
          == #"{"reason":"InvalidProviderToken"}403"#)
      let phones = try await running.json("/phones")
      #expect(phones["items"]?.array?.compactMap { $0["environment"]?.string } == ["development", "production"])
      #expect(phones["items"]?.array?.allSatisfy { $0["token"]?.string == Self.token } == true)
      for (title, environment) in [("One", "development"), ("Two", "production")] {
        let arrived = try await running.json("/notifications?wait=5s&title=\(title)")
        #expect(arrived["total"] == 1 && arrived["items"]?.array?.first?["environment"]?.string == environment)
      }
      let missing = try await running.curl("--fail", "\(running.control)/notifications?wait=10ms&title=Three")
      #expect(missing.contains("(curl: 22)"), "a whole assertion: \(missing)")
      let set = try await running.json(
        "/faults/development", "-X", "PUT", "-H", "Content-Type: application/json", "-d",
        #"{"faults":"status=503,next=1"}"#)
      #expect(set["environment"] == "development")
      #expect(
        try await running.push(good, to: running.development, trusting: "ca.pem")
          == #"{"reason":"ServiceUnavailable"}503"#)
      let counters = try await running.stop()
      #expect(counters["development"]?["by_status"] == ["200": 1, "403": 1, "503": 1])
      #expect(counters["production"]?["by_status"] == ["200": 1] && counters["production"]?["requests"] == 1)
    }
  }

  @Test("with an address for receipts, a phone reports what it displays")
  func receipts() async throws {
    let (bodies, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    var router = Router()
    router.on(.post, "/receipts") { request in
      continuation.yield(try await request.body.collect(upTo: 1 << 16))
      return .json(Array(#"{"results":["recorded"]}"#.utf8))
    }
    try await WebTestServer.with(router) { address in
      try await CommandRunner.with { box in
        let refused = await box.run("simulate", "--receipts", "http://example.com/receipts")
        #expect(refused.code == 64 && refused.errors.contains("--receipts must be a URL"))
        let running = try await Self.start(
          box,
          [
            "--device", Self.token, "--topic", Self.topic, "--name", "push.test", "--ca-out", "ca.pem", "--receipts",
            "http://\(address)/receipts",
          ])
        let port = running.development.split(separator: ":").last ?? ""
        let status = try await running.curl(
          "--http2", "--cacert", "ca.pem", "--resolve", "push.test:\(port):127.0.0.1", "-w", "%{http_code}", "-H",
          "authorization: bearer \(try Self.bearer(try PrivateKey.generateP256()))", "-H", "apns-topic: \(Self.topic)",
          "-H", "apns-push-type: alert", "-d", #"{"aps":{"alert":"Hello"},"sbid":"p1","sbsig":"s1"}"#,
          "https://push.test:\(port)/3/device/\(Self.token)")
        #expect(status == "200")
        var reports = bodies.makeAsyncIterator()
        let body = try JSONValue(parsing: try #require(await reports.next()))
        #expect(
          body == ["token": .string(Self.token), "receipts": [["sbid": "p1", "sbsig": "s1", "event": "displayed"]]])
        _ = try await running.stop()
      }
    }
  }

  @Test("an authority that is kept is trusted after a restart too, and its file is its owner's")
  func authority() async throws {
    try await CommandRunner.with { box in
      let bearer = try Self.bearer(try PrivateKey.generateP256())
      let words = ["--device", Self.token, "--topic", Self.topic, "--name", "push.test", "--ca-key", "ca.key"]
      let first = try await Self.start(box, words)
      let trusted = try box.file("trusted.pem", first.child.outputText)
      #expect(try await first.push(bearer, to: first.development, trusting: trusted) == "200")
      _ = try await first.stop()
      let mode = try FileManager.default.attributesOfItem(atPath: box.folder + "/ca.key")[.posixPermissions] as? Int
      #expect(mode == 0o600)
      let second = try await Self.start(box, words)
      #expect(try await second.push(bearer, to: second.development, trusting: trusted) == "200")
      _ = try await second.stop()
    }
  }

  @Test("an Android phone by its FCM token, and FCM over plain HTTP, where a phone of an iPhone's token is none")
  func fcm() async throws {
    try await CommandRunner.with { box in
      let token = "c0123456789abcdefghijk:APA91b" + String(repeating: "x", count: 134)
      let running = try await Self.start(
        box, ["--device", token, "--topic", Self.topic, "--ca-out", "ca.pem", "--fcm-faults", "status=404,next=1"])
      let phones = try await running.json("/phones")
      #expect(phones["items"]?.array?.compactMap { $0["platform"]?.string } == ["android"])
      let host = running.control.replacing("/simulator/v1", with: "")
      let body = #"{"to":"\#(token)","notification":{"title":"One"}}"#
      func send() async throws -> String {
        try await running.curl(
          "-H", "Authorization: key=server", "-H", "Content-Type: application/json", "-d", body, "\(host)/fcm/send")
      }
      #expect(try await send().contains(#""error":"NotRegistered""#))
      #expect(try await send().contains(#""success":1"#))
      #expect(try await running.json("/notifications?wait=5s&title=One")["total"] == 1)
      let counters = try await running.stop()
      #expect(counters["fcm"]?["by_status"] == ["200": 2])
      let refused = await box.run("simulate", "--fcm-faults", "reason=TooManyRequests")
      #expect(refused.code == 64 && refused.errors.contains("--fcm-faults"))
      let account = await box.run("simulate", "--service-account", try box.file("a.json", "{}"))
      #expect(account.code == 1 && account.errors.contains("not a service account"))
    }
  }

  @Test("what reached it is listed, also to unknown tokens and refused; JPush takes the given keys alone")
  func catches() async throws {
    try await CommandRunner.with { box in
      let running = try await Self.start(
        box, ["--accept-unknown-tokens", "--ca-out", "ca.pem", "--name", "push.test", "--jpush-key", "appkey:master:x"])
      #expect(try await running.json("/requests?count=0&wait=50ms")["total"] == 0)
      let bearer = try Self.bearer(try PrivateKey.generateP256())
      #expect(try await running.push(bearer, to: running.development, trusting: "ca.pem", title: "Sale") == "200")
      let found = try await running.json("/requests?wait=5s&token=\(Self.token)")["items"]?.array?.first
      #expect(found?["outcome"] == "no_phone" && found?["title"] == "Sale" && found?["status"] == 200)
      #expect(try await running.json("/notifications")["total"] == 0)
      let push = try await running.push("x", to: running.production, trusting: "ca.pem")
      #expect(push == #"{"reason":"InvalidProviderToken"}403"#)
      #expect(try await running.json("/requests?outcome=refused&server=production")["total"] == 1)
      let came = try await running.curl("-o", "/dev/null", "-w", "%{http_code}", running.control + "/requests?count=0")
      #expect(came == "409")
      let host = running.control.replacing("/simulator/v1", with: "")
      for (pair, status) in [("appkey:master:x", "400"), ("appkey:other", "401"), ("other:master:x", "401")] {
        let answer = try await running.curl(
          "-o", "/dev/null", "-w", "%{http_code}", "-u", pair, "-d", "{}", "\(host)/v3/push")
        #expect(answer == status, "\(pair)")
      }
      for (name, status) in [("evil.example", "421"), ("push.test", "200"), ("localhost", "200")] {
        let answer = try await running.curl(
          "-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: \(name)", running.control + "/phones")
        #expect(answer == status, "\(name)")
      }
      _ = try await running.stop()
      for wrong in ["appkey", ":secret", "appkey:"] {
        let refused = await box.run("simulate", "--jpush-key", wrong)
        #expect(refused.code == 64 && refused.errors.contains("--jpush-key"), "\(refused)")
      }
    }
  }

  @Test("a file for the CA that cannot be written is named, with its cause")
  func authorityFile() async throws {
    try await CommandRunner.with { box in
      do {
        _ = try await Self.start(box, ["--ca-out", "none/ca.pem"])
        Issue.record("it listens")
      } catch let error as SceneError {
        let words = "none/ca.pem cannot be written: No such file or directory. Check that its folder exists"
        #expect("\(error)".contains(words), "\(error)")
      }
    }
  }

  @Test("what cannot be is said before anything listens")
  func refused() async throws {
    try await CommandRunner.with { box in
      let key = try box.file("key.p8", try PrivateKey.generateP256().pkcs8PEM)
      let unnamed = await box.run("simulate", "--key", key)
      #expect(unnamed.code == 64 && unnamed.errors.contains("--key-id"))
      let lonely = await box.run("simulate", "--team-id", "TEAM123456")
      #expect(lonely.code == 64 && lonely.errors.contains("--key"))
      let wrong = await box.run("simulate", "--ca-key", try box.file("ca.key", "nothing"))
      #expect(wrong.code == 1 && wrong.errors.contains("does not contain a simulator CA"))
      let name = await box.run("simulate", "--name", "a b")
      #expect(name.code == 64 && name.errors.contains("--name"))
      let device = await box.run("simulate", "--device", "zz")
      #expect(device.code == 64 && device.errors.contains("for --device <token>: it is not a device token"))
      let time = await box.run("simulate", "--idle-timeout", "2h")
      #expect(time.code == 64 && time.errors.contains("--idle-timeout"))
    }
  }
}
