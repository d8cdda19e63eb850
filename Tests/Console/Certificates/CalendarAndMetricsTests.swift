import Certificates
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import Testing

import Text
@testable import Console

@Suite("Calendar feed and metrics")
struct CalendarAndMetricsTests {
  /// Of the address that the page shows once.
  private func key(_ answer: SceneAnswer) throws -> String {
    let match = try #require(answer.text.firstMatch(of: /certificates\.ics\?key=([A-Za-z0-9_-]+)/))
    return String(match.1)
  }

  private func feed(_ scene: ConsoleScene, _ key: String, headers: [String: String] = [:]) async throws -> SceneAnswer {
    try await scene.call(.get, "/certificates.ics?key=\(key)", as: nil, headers: headers)
  }

  @Test("each person has an address of his own; a new one, or none, closes the old")
  func addresses() async throws {
    try await ConsoleScene.with { scene in
      try await scene.store.write { try HostSamples.add($0) }
      var anna = try await scene.signIn(.viewer)
      var lin = try await scene.signIn(.operator)
      let made = try await anna.post("/certificates/calendar")
      let (first, other) = (try key(made), try key(try await lin.post("/certificates/calendar")))
      let answer = try await feed(scene, first)
      #expect(answer.status == 200 && answer.type == "text/calendar")
      #expect(answer.text.contains("SUMMARY:mail.example.com:443 expires\r\n"))
      #expect(answer.text.contains("URL:http://localhost:8080/hosts/1\r\n"))
      #expect(answer.text.contains("DESCRIPTION:Kind: Host\\n"), "as the pages name it")
      let tag = try #require(answer.response.headers["ETag"])
      #expect(try await feed(scene, first, headers: ["If-None-Match": tag]).status == 304)
      scene.clock.advance(3600)
      #expect(try await feed(scene, first).response.headers["ETag"] == tag, "the same all day")
      // A session ends after 12 hours without use.
      for _ in 0..<3 {
        scene.clock.advance(8 * 3600)
        #expect(try await anna.get("/").status == 200)
      }
      #expect(try await feed(scene, first).response.headers["ETag"] != tag)
      #expect(!ScenePage(try await anna.get("/certificates")).text.contains(first), "it is shown once")
      #expect(try await anna.post("/certificates/calendar").text.contains("Confirm it’s you"))
      let second = try key(try await anna.post("/certificates/calendar", [("proof", ConsoleScene.password)]))
      #expect(try await feed(scene, first).status == 404)
      #expect(try await feed(scene, second).status == 200)
      for wrong in ["", "x", second + "x", String(second.dropLast())] {
        #expect(try await feed(scene, wrong).status == 404, "\(wrong)")
      }
      let asked = try await scene.call(.get, "/certificates.ics", as: nil)
      #expect(asked.status == 401 && asked.response.headers["WWW-Authenticate"]?.hasPrefix("Basic ") == true)
      #expect(asked.type == "text/plain" && asked.text.hasPrefix("401 Unauthorized\nSend the key"), "\(asked.text)")
      for (password, status) in [(second, 200), (first, 401), ("", 401)] {
        let name = Data("calendar:\(password)".utf8).base64EncodedString()
        let answer = try await scene.call(
          .get, "/certificates.ics", as: nil, headers: ["Authorization": "Basic \(name)"])
        #expect(answer.status == status, "as a password, which proxies do not log")
      }
      for (isDisabled, status) in [(true, 404), (false, 200)] {
        _ = try await scene.store.write { database in
          let user = try #require(try User.find(database, name: "viewer@example.com"))
          return try User.setDisabled(database, id: user.id, isDisabled, now: ConsoleScene.noon)
        }
        #expect(try await feed(scene, second).status == status, "disabled: \(isDisabled)")
      }
      anna = try await scene.signIn(.viewer, name: "another@example.com")
      let third = try key(try await anna.post("/certificates/calendar"))
      _ = try await anna.post("/certificates/calendar/remove")
      #expect(try await feed(scene, third).status == 404)
      #expect(try await feed(scene, other).status == 200)
      #expect(try await scene.audit("calendar.create").count == 4)
      let refused = try await scene.audit("calendar.refused")
      #expect(refused.allSatisfy { $0.actor == "anonymous" && $0.subject == "calendar" })
      #expect(refused.allSatisfy { $0.detail?["reason"] == "wrong key" })
      #expect(Set(refused.compactMap { $0.detail?["status"]?.integer }) == [401, 404], "once an hour for each answer")
    }
  }

  @Test("a name with line ends and quotation marks stays a label, and makes no measure of its own")
  func forged() async throws {
    try await ConsoleScene.with { scene in
      let sealer = scene.store.sealer
      try await scene.store.write { database in
        for name in ["x\"} 1\r\nsignalbox_pushes{state=\"forged\"} 7\r\n", "a\r\nb", "back\\slash\n"] {
          var details = TrackedCertificate.Details(kind: "apns_certificate", name: name, fileName: "x")
          (details.notAfter, details.topics, details.serial) = (ConsoleScene.noon + 86_400, [name], name)
          _ = try TrackedCertificate.add(
            database, details, material: [1], sealer: sealer, by: "test", now: ConsoleScene.noon)
        }
      }
      let answer = try await scene.call(.get, "/metrics", as: .viewer)
      #expect(!answer.text.utf8.contains(0x0D))
      let samples = try PrometheusText.samples(answer.text)
      #expect(!samples.contains { $0.labels["state"] == "forged" })
      let names = samples.filter { $0.name == "signalbox_credential_expiry_timestamp_seconds" }.compactMap {
        $0.labels["name"]
      }
      #expect(Set(names) == ["x\"} 1  signalbox_pushes{state=\"forged\"} 7  ", "a  b", "back\\slash "])
    }
  }

  @Test("metrics want a token, and are what Prometheus reads")
  func metrics() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      _ = try await SceneWorld.hostile.fill(scene)
      try await scene.store.write { try HostSamples.add($0) }
      let asked = try await scene.call(.get, "/metrics", as: nil)
      #expect(asked.status == 401 && asked.response.headers["WWW-Authenticate"]?.hasPrefix("Bearer ") == true)
      #expect(asked.type == "text/plain" && asked.text.contains("Authorization: Bearer"), "\(asked.text)")
      let answer = try await scene.call(.get, "/metrics", as: .viewer)
      #expect(answer.status == 200)
      #expect(answer.response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
      let samples = try PrometheusText.samples(answer.text)
      let ends = samples.filter { $0.name == "signalbox_credential_expiry_timestamp_seconds" }
      let host = try #require(ends.first { $0.labels["name"] == "mail.example.com:443" })
      #expect(host.value == (ConsoleScene.noon + 20 * 86_400).timeIntervalSince1970)
      #expect(host.labels["kind"] == "host" && host.labels["serial"] == "01FF")
      #expect(ends.contains { $0.labels["topic"] == SceneWorld.attack.singleLine }, "escaped, and whole")
      let probes = samples.filter { $0.name == "signalbox_host_probe_success" }
      #expect(probes.map(\.value).sorted() == [0, 0, 1])
      #expect(samples.first { $0.name == "signalbox_build_info" }?.labels["version"] == "0.0.0")
      #expect(samples.contains { $0.name == "signalbox_pushes" && $0.labels["state"] == "finished" && $0.value > 0 })
      #expect(samples.contains { $0.name == "signalbox_deliveries" && $0.value > 0 })
      #expect(samples.contains { $0.name == "signalbox_queue_devices" })
      #expect(samples.contains { $0.name == "signalbox_http_connections" })
    }
  }
}

extension CalendarAndMetricsTests {
  @Test("times are histograms: each bucket holds those before it, by what answered, by provider, and of the database")
  func times() async throws {
    try await ConsoleScene.with { scene in
      let times = scene.store.times
      let request = ServiceTimes.Subject.request(handler: MetricsRoute.handler(of: "/api/v1/apps"), status: 2)
      for duration in [Duration.milliseconds(1), .milliseconds(3), .milliseconds(400), .seconds(60)] {
        times.note(request, duration)
      }
      func result(_ outcome: Outcome, _ milliseconds: Int) -> DeliveryResult {
        DeliveryResult(
          deviceID: 1, platform: .android, outcome: outcome, at: ConsoleScene.noon, durationMilliseconds: milliseconds)
      }
      times.note([
        result(.accepted, 12), result(.rejected(status: 404, reason: "UNREGISTERED", tokenInvalidSince: nil), 30),
        result(.skipped(reason: "x"), 0),
      ])
      let answer = try await scene.call(.get, "/metrics", as: .viewer)
      #expect(answer.text.contains("# TYPE signalbox_http_request_duration_seconds histogram\n"))
      let samples = try PrometheusText.samples(answer.text)
      func values(_ name: String, _ labels: [String: String]) -> [Double] {
        samples.filter { $0.name == name && $0.labels.merging(labels) { $1 } == $0.labels }.map(\.value)
      }
      let api = ["handler": "api", "status": "2xx"]
      let buckets = values("signalbox_http_request_duration_seconds_bucket", api)
      #expect(buckets == [1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4])
      #expect(values("signalbox_http_request_duration_seconds_count", api) == [4])
      #expect(values("signalbox_http_request_duration_seconds_sum", api).first.map { abs($0 - 60.404) < 1e-9 } == true)
      #expect(values("signalbox_provider_answer_seconds_count", ["provider": "fcm"]) == [2])
      #expect(values("signalbox_database_seconds_count", ["kind": "read"]).first.map { $0 > 0 } == true)
    }
  }

  @Test(
    "routes are told apart by what answers them",
    arguments: [
      ("/", "page"), ("/pushes/:id", "page"), ("/api/v1/pushes", "api"), ("/assets/:version/*path", "asset"),
      ("/v3/push", "push_api"), ("/fcm/send", "push_api"), ("/metrics", "monitoring"), (nil, "none"),
    ])
  func handlers(route: String?, handler: String) { #expect(MetricsRoute.handler(of: route).rawValue == handler) }
}

/// A strict reader of Prometheus' text format 0.0.4.
enum PrometheusText {
  struct Sample { let name: String, labels: [String: String], value: Double }
  struct Malformed: Error { let line: String }

  static func samples(_ text: String) throws -> [Sample] {
    guard text.hasSuffix("\n") else { throw Malformed(line: "the last line has no end") }
    var samples: [Sample] = []
    var announced: Set<String> = []
    var current: String?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init) {
      if let help = line.wholeMatch(of: /# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) .*/) {
        guard announced.insert(String(help.1)).inserted else { throw Malformed(line: line) }
        current = String(help.1)
      } else if let type = line.wholeMatch(of: /# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (gauge|counter|histogram)/) {
        guard String(type.1) == current else { throw Malformed(line: line) }
      } else {
        let sample = try sample(line)
        let parts = ["", "_bucket", "_sum", "_count"].map { (current ?? "") + $0 }
        guard parts.contains(sample.name) else { throw Malformed(line: line) }
        samples.append(sample)
      }
    }
    return samples
  }

  private static func sample(_ line: String) throws -> Sample {
    var rest = line.unicodeScalars[...]
    func name() -> String {
      let found = rest.prefix { $0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "_" }
      rest = rest.dropFirst(found.count)
      return String(String.UnicodeScalarView(found))
    }
    let metric = name()
    var labels: [String: String] = [:]
    if rest.first == "{" {
      rest.removeFirst()
      while rest.first != "}" {
        let label = name()
        guard !label.isEmpty, rest.popFirst() == "=", rest.popFirst() == "\"" else { throw Malformed(line: line) }
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst(), scalar != "\"" {
          guard scalar == "\\" else {
            value.append(scalar)
            continue
          }
          switch rest.popFirst() {
          case "\\": value.append("\\")
          case "\"": value.append("\"")
          case "n": value.append("\n")
          default: throw Malformed(line: line)
          }
        }
        guard labels.updateValue(String(value), forKey: label) == nil else { throw Malformed(line: line) }
        if rest.first == "," { rest.removeFirst() }
      }
      rest.removeFirst()
    }
    guard rest.popFirst() == " ", let value = Double(String(String.UnicodeScalarView(rest))) else {
      throw Malformed(line: line)
    }
    return Sample(name: metric, labels: labels, value: value)
  }
}
