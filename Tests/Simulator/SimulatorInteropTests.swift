import Foundation
import JSON
import OpenSSL
import Model
import TestSupport
import Testing

@testable import Simulator

/// Other people's clients against the simulated APNs.
@Suite("Simulated APNs with others")
struct SimulatorInteropTests {
  private static let curl = "/usr/bin/curl"
  private static let python = ProcessInfo.processInfo.environment["SIGNALBOX_TEST_PYTHON"]

  /// Files with these texts, for tools that want files.
  private static func withFiles(_ texts: [String], _ body: ([String]) async throws -> Void) async throws {
    let files = texts.map { text in
      (FileManager.default.temporaryDirectory.appending(path: UUID().uuidString), text)
    }
    // Leftovers in the temporary folder harm nobody.
    defer { for (file, _) in files { try? FileManager.default.removeItem(at: file) } }
    for (file, text) in files { try Data(text.utf8).write(to: file) }
    try await body(files.map(\.0.path))
  }

  @Test("a call about channels that is never answered has taken place, as a push has")
  func silentChannel() async throws {
    try #require(FileManager.default.isExecutableFile(atPath: Self.curl), "apt install curl")
    try await SimulatorScene.run { scene in
      let port = try #require(scene.simulator.endpoint(.development)?.port)
      scene.simulator.faults(.development).set(try Faults(parsing: "silent=1"))
      try await Self.withFiles([scene.simulator.authorityPEM]) { files in
        let authorization = try scene.bearer()
        let (status, output) = try await OtherProgram.run(
          Self.curl,
          [
            "-sS", "--http2", "--max-time", "3", "--cacert", files[0], "-H", "authorization: \(authorization)",
            "-d", #"{"push-type":"LiveActivity","message-storage-policy":0}"#,
            "https://localhost:\(port)/1/apps/\(SimulatorScene.topic)/channels",
          ])
        #expect(status == 28, "curl gives up after its time limit: \(output)")
      }
      #expect(scene.simulator.channels.all.map(\.app) == [SimulatorScene.topic])
      #expect(scene.simulator.counters(.development).unanswered == 1)
    }
  }

  @Test("curl --http2 posts a push with a signed token, as Apple's documentation shows")
  func curl() async throws {
    try #require(FileManager.default.isExecutableFile(atPath: Self.curl), "apt install curl")
    try await SimulatorScene.run { scene in
      let port = try #require(scene.simulator.endpoint(.development)?.port)
      try await Self.withFiles([scene.simulator.authorityPEM]) { files in
        func post(_ token: String, _ authorization: String, host: String = "localhost") async throws -> String {
          let (status, output) = try await OtherProgram.run(
            Self.curl,
            [
              "-sS", "--http2", "--max-time", "20", "--cacert", files[0], "-w", " %{http_version} %{http_code}",
              "-H", "authorization: \(authorization)", "-H", "apns-topic: \(SimulatorScene.topic)",
              "-H", "apns-push-type: alert", "-H", "apns-id: eabeae54-14a8-11e5-b60b-1697f925ec7b",
              "-d", #"{"aps":{"alert":"from curl"}}"#, "https://\(host):\(port)/3/device/\(token)",
            ])
          #expect(status == 0, "\(output)")
          return output
        }
        let bearer = try scene.bearer()
        #expect(try await post(scene.phone.tokenText, bearer) == " 2 200")
        #expect(try await post(scene.phone.tokenText, bearer, host: "127.0.0.1") == " 2 200")
        let long = try await OtherProgram.run(
          Self.curl,
          [
            "-sS", "--http2", "--max-time", "20", "--cacert", files[0], "-w", " %{http_code} %header{apns-id}",
            "-H", "apns-id: eabeae54-14a8-11e5-b60b-1697f925ec7b", "-H",
            "x-long: \(String(repeating: "x", count: 20_000))",
            "-d", "{}", "https://localhost:\(port)/3/device/\(scene.phone.tokenText)",
          ])
        #expect(
          long.output == #"{"reason":"RequestHeaderFieldsTooLarge"} 431 eabeae54-14a8-11e5-b60b-1697f925ec7b"#)
        // With ALPN curl offers http/1.1 alone.
        for alpn in ["--alpn", "--no-alpn"] {
          let old = try await OtherProgram.run(
            Self.curl,
            [
              "-sS", "--http1.1", alpn, "--max-time", "20", "--cacert", files[0], "-w",
              "%{http_version} %{http_code}", "-d", "{}",
              "https://localhost:\(port)/3/device/\(scene.phone.tokenText)",
            ])
          #expect(
            old.status == 0 && old.output == "This server supports only HTTP/2 over TLS. Offer h2 in ALPN.\n1.1 505",
            "\(alpn): \(old)")
        }
        let received = try #require(scene.book.phone(scene.phone.id)?.received)
        #expect(received.map(\.payload) == [#"{"aps":{"alert":"from curl"}}"#])
        #expect(received.map(\.duplicates) == [1])
        #expect(received.map(\.apnsID) == ["eabeae54-14a8-11e5-b60b-1697f925ec7b"])
        #expect(
          try await post(scene.phone.tokenText, String(bearer.dropLast(4)) + "AAAA")
            == #"{"reason":"InvalidProviderToken"} 2 403"#)
        #expect(
          try await post(String(repeating: "0", count: 64), bearer) == #"{"reason":"BadDeviceToken"} 2 400"#)
        try scene.book.uninstall(scene.phone.id, now: Date(timeIntervalSince1970: 1_700_000_000))
        #expect(
          try await post(scene.phone.tokenText, bearer)
            == #"{"reason":"Unregistered","timestamp":1700000000000} 2 410"#)
      }
    }
  }

  @Test("APNs asks for a client certificate; FCM and JPush, which take none, do not")
  func clientCertificate() async throws {
    try #require(FileManager.default.isExecutableFile(atPath: Self.curl), "apt install curl")
    try await SimulatorScene.run { scene in
      try await Self.withFiles([scene.simulator.authorityPEM]) { files in
        for server in SimulatedServer.allCases {
          let port = try #require(scene.simulator.endpoint(server)?.port)
          let (status, output) = try await OtherProgram.run(
            Self.curl, ["-sSv", "--max-time", "20", "--cacert", files[0], "https://localhost:\(port)/"])
          #expect(status == 0, "\(output)")
          let isAPNs = server == .development || server == .production
          #expect(output.contains("Request CERT") == isAPNs, "\(server): \(output)")
        }
      }
    }
  }

  @Test("curl --http1.1 reaches FCM and JPush over TLS, be http/1.1 offered by ALPN or not")
  func http1() async throws {
    try #require(FileManager.default.isExecutableFile(atPath: Self.curl), "apt install curl")
    try await SimulatorScene.run { scene in
      try await Self.withFiles([scene.simulator.authorityPEM]) { files in
        for alpn in ["--alpn", "--no-alpn"] {
          func ask(_ server: SimulatedServer, _ path: String, _ more: String...) async throws -> String {
            let port = try #require(scene.simulator.endpoint(server)?.port)
            let address = "https://localhost:\(port)\(path)"
            let words = ["-sS", "--http1.1", alpn, "--max-time", "20", "--cacert", files[0]]
            // Two requests on one connection.
            let (status, output) = try await OtherProgram.run(
              Self.curl, words + ["-w", " %{http_version} %{http_code} %{num_connects}\n"] + more + [address, address])
            #expect(status == 0, "\(output)")
            return output
          }
          let limits = try await ask(.jpush, "/v3/tags/", "-u", "a:b")
          #expect(limits == #"{"tags":[]} 1.1 200 1"# + "\n" + #"{"tags":[]} 1.1 200 0"# + "\n", "\(alpn): \(limits)")
          let token = try await ask(.fcm, "/token", "-d", "grant_type=x")
          #expect(token.contains("1.1 400 1\n") && token.contains("1.1 400 0\n"), "\(alpn): \(token)")
        }
      }
    }
  }

  private static let jpush = ProcessInfo.processInfo.environment["SIGNALBOX_TEST_JPUSH"]

  @Test(
    "requests, which google-auth and jpush use, sends to FCM over TLS",
    .enabled(if: jpush != nil, "SIGNALBOX_TEST_JPUSH is not set: script/test sets it"))
  func requests() async throws {
    let script = """
      import sys, requests
      address, authority = sys.argv[1:3]
      with requests.Session() as session:
          # A bundle that the environment names would be used instead.
          session.trust_env = False
          session.verify = authority
          answers = [session.post(address + '/token', data={'grant_type': 'x'}) for _ in range(3)]
      print(*sorted({answer.status_code for answer in answers}), answers[0].json()['error'])
      """
    try await SimulatorScene.run { scene in
      let port = try #require(scene.simulator.endpoint(.fcm)?.port)
      try await Self.withFiles([scene.simulator.authorityPEM, script]) { files in
        let ran = try await OtherProgram.run(
          try #require(Self.jpush), [files[1], "https://localhost:\(port)", files[0]])
        #expect(ran.status == 0 && ran.output == "400 unsupported_grant_type\n", "\(ran)")
      }
    }
  }

  private static let script = """
    import asyncio, json, ssl, sys
    from aioapns import APNs, NotificationRequest, PushType
    from aioapns.connection import APNsTLSClientProtocol
    host, port, authority, key, key_id, team, topic, good, bad = sys.argv[1:10]
    class Simulated(APNsTLSClientProtocol):
        APNS_SERVER = host
        APNS_PORT = int(port)
    async def main():
        client = APNs(key=open(key).read(), key_id=key_id, team_id=team, topic=topic, use_sandbox=True,
                      ssl_context=ssl.create_default_context(cafile=authority))
        client.pool.protocol_class = Simulated
        async def send(token, number):
            request = NotificationRequest(device_token=token, message={"aps": {"alert": "from aioapns %d" % number}},
                                          time_to_live=60, priority=10, push_type=PushType.ALERT)
            result = await client.send_notification(request)
            return [result.status, result.description, result.timestamp]
        first = [await send(good, 0), await send(bad, 1)]
        rest = await asyncio.gather(*(send(good, 2 + number) for number in range(40)))
        print(json.dumps({"first": first, "rest": sorted({answer[0] for answer in rest})}))
        client.pool.close()
    asyncio.run(asyncio.wait_for(main(), 60))
    """

  @Test(
    "aioapns, with a .p8 key and without ALPN, sends to a phone",
    .enabled(if: python != nil, "SIGNALBOX_TEST_PYTHON is not set: script/test sets it"))
  func aioapns() async throws {
    let python = try #require(Self.python)
    try await SimulatorScene.run { scene in
      let endpoint = try #require(scene.simulator.endpoint(.development))
      let removed = try scene.book.add(
        NewPhone(name: "Removed", environment: .development, topic: SimulatorScene.topic))
      try scene.book.uninstall(removed.id, now: Date(timeIntervalSince1970: 1_700_000_000))
      try await Self.withFiles([scene.simulator.authorityPEM, scene.key.pkcs8PEM, Self.script]) { files in
        let (status, output) = try await OtherProgram.run(
          python,
          [
            files[2], endpoint.host, "\(endpoint.port)", files[0], files[1], SimulatorScene.keyID, SimulatorScene.team,
            SimulatorScene.topic, scene.phone.tokenText, removed.tokenText,
          ])
        try #require(status == 0, "\(output)")
        let answer = try JSONValue(parsing: Data((output.split(separator: "\n").last ?? "").utf8))
        #expect(answer["first"] == [["200", .null, .null], ["410", "Unregistered", 1_700_000_000_000]])
        #expect(answer["rest"] == ["200"])
        let received = try #require(scene.book.phone(scene.phone.id)?.received)
        #expect(received.count == 41)
        #expect(received.last?.payload == #"{"aps": {"alert": "from aioapns 0"}}"#)
      }
    }
  }
}
