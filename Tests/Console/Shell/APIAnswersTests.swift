import Foundation
import HTTPServer
import JSON
import Logging
import OpenSSL
import Providers
import Model
import SQLite
import Store
import TestSupport
import Testing

/// A call and what it must answer.
struct Call {
  let method: HTTPServer.Method
  /// As the document writes it, with what the braces stand for in ``target``.
  let path: String
  let target: String
  let status: Int
  var json: JSONValue?
  var headers: [String: String] = [:]
  var body: [UInt8] = []

  init(_ method: HTTPServer.Method, _ path: String, _ target: String?, _ status: Int, json: JSONValue? = nil) {
    self.method = method
    self.path = "/api/v1" + path
    self.target = "/api/v1" + (target ?? path)
    self.status = status
    self.json = json
  }

  init(_ method: HTTPServer.Method, _ path: String, _ status: Int, json: JSONValue? = nil) {
    self.init(method, path, nil, status, json: json)
  }

  func with(_ type: String, _ body: [UInt8]) -> Call {
    var call = self
    call.headers["Content-Type"] = type
    call.body = body
    return call
  }

  var operation: OpenAPIDocument.Operation { .init(method: method.rawValue, path: path) }
}

/// Every operation's answers against the schemas of the document.
@Suite("API: answers and their schemas")
struct APIAnswersTests {
  static let app = ConsoleScene.bundleID

  /// Calls in their order; each operation has one that succeeds and one that does not.
  private func calls(push: String, schedule: String, certificate: Int64, request: String) throws -> [Call] {
    let (good, bad) = (try CertificateSamples.p12(days: 20), Array("hello".utf8))
    func upload(_ file: [UInt8], dryRun: Bool = false) -> Multipart {
      Multipart([
        .file("file", name: "push.p12", file), .field("password", "secret"), .field("app", Self.app),
        .field("dry_run", dryRun ? "true" : "false"),
      ])
    }
    let successor = Multipart([.file("file", name: "push.p12", good), .field("password", "secret")])
    let device: JSONValue = [
      "app": .string(Self.app), "environment": "development", "platform": "ios",
      "token": .string(ConsoleScene.token(900).hexadecimal), "alias": "berta", "tags": ["beta", "odd"],
      "registration_id": "1a0018970a", "name": "Berta's phone",
    ]
    var draft: JSONValue = [
      "app": .string(Self.app), "environment": "development", "platforms": ["ios"], "audience": ["tag": ["odd"]],
      "notification": ["title": "Hello", "body": "World", "badge": 1], "options": ["dry_run": true],
    ]
    let dry = draft
    draft = draft.without("options")
    let count: JSONValue = [
      "app": .string(Self.app), "environment": "development", "platforms": ["ios", "android"], "audience": "all",
    ]
    let (credential, key) = ("/apps/{app}/credentials/{environment}", "/apps/{app}/jpush-key")
    let (channels, shop) = ("/apps/{app}/channels/{environment}", "/apps/\(Self.app)/channels/production")
    let (topics, shopTopics) = ("/apps/{app}/topics/{environment}", "/apps/\(Self.app)/topics/production")
    let (segments, shopSegments) = ("/apps/{app}/segments", "/apps/\(Self.app)/segments")
    let old: JSONValue = [
      "name": "Old app", "rule": ["platforms": ["ios"], "app_version": ["below": "4.0"], "language": ["zh"]],
    ]
    let news: JSONValue = [
      "topic": "news", "tokens": ["fWx9kQ2dSxyZ:APA91bHun4MxP5egoKMwt2KZFBaFUH1RYqxHfGkc8vSsdtQ"],
    ]
    let line = Array((device.text() + "\n{}\n").utf8)
    let (one, taken, smoke) = ("/schedules/{id}", "/hosts/{id}/acknowledgement", "/smoke-tests/{id}")
    let template = "/templates/{id}"
    return [
      Call(.get, "/apps", 200), Call(.get, "/apps", "/apps?limit=0", 422),
      Call(.post, "/apps", 201, json: ["bundle_id": "com.example.new", "name": "New", "alias_rule": "jpush"]),
      Call(.post, "/apps", 409, json: ["bundle_id": "com.example.new", "name": "New"]),
      Call(.post, "/apps", 422, json: ["bundle_id": "not a bundle id", "nam": "New"]),
      Call(.post, "/apps", 415).with("text/plain", bad), Call(.post, "/apps", 400).with("application/json", bad),
      Call(.get, "/apps/{app}", "/apps/\(Self.app)", 200), Call(.get, "/apps/{app}", "/apps/com.example.none", 404),
      Call(.patch, "/apps/{app}", "/apps/\(Self.app)", 200, json: ["package_name": "com.example.shop_android"]),
      Call(.patch, "/apps/{app}", "/apps/\(Self.app)", 422, json: [:]),
      Call(.patch, "/apps/{app}", "/apps/com.example.none", 404, json: ["name": "x"]),
      Call(.get, "/apps/{app}/credentials", "/apps/\(Self.app)/credentials", 200),
      Call(.get, "/apps/{app}/credentials", "/apps/com.example.none/credentials", 404),
      Call(
        .put, credential, "/apps/\(Self.app)/credentials/development", 200,
        json: ["certificate": .integer(certificate), "endpoint": "localhost:2197"]),
      Call(.put, credential, "/apps/\(Self.app)/credentials/production", 200, json: ["endpoint": "simulator"]),
      Call(
        .put, credential, "/apps/\(Self.app)/credentials/production", 200,
        json: ["provider": "fcm", "endpoint": "simulator"]),
      Call(
        .put, credential, "/apps/\(Self.app)/credentials/production", 422,
        json: ["provider": "fcm", "certificate": .integer(certificate)]),
      Call(.put, credential, "/apps/\(Self.app)/credentials/development", 422, json: ["certificate": 999]),
      Call(.put, credential, "/apps/\(Self.app)/credentials/staging", 404, json: ["certificate": 1]),
      Call(.get, "/apps/{app}/pages", "/apps/\(Self.app)/pages", 200),
      Call(.get, "/apps/{app}/pages", "/apps/com.example.none/pages", 404),
      Call(
        .put, "/apps/{app}/pages", "/apps/\(Self.app)/pages", 200,
        json: ["rules": [["type": "order", "page": "Order", "deep_link": "shop://orders/{id}"]]]),
      Call(.put, "/apps/{app}/pages", "/apps/\(Self.app)/pages", 422, json: ["rules": [["type": "order"]]]),
      Call(
        .post, "/apps/{app}/pages/try", "/apps/\(Self.app)/pages/try", 200,
        json: ["text": "{\"link\": \"order\", \"id\": 7}"]),
      Call(.post, "/apps/{app}/pages/try", "/apps/\(Self.app)/pages/try", 422, json: ["text": "hello"]),
      Call(.delete, "/apps/{app}/pages", "/apps/\(Self.app)/pages", 204),
      Call(.delete, "/apps/{app}/pages", "/apps/com.example.none/pages", 404),
      Call(.post, channels, shop, 201, json: ["storage": "latest", "name": "Final"]),
      Call(.post, channels, shop, 422, json: ["storage": "some"]), Call(.get, channels, shop, 200),
      Call(.get, channels, "/apps/\(Self.app)/channels/staging", 404),
      Call(.post, channels + "/refresh", shop + "/refresh", 200),
      Call(.post, channels + "/refresh", "/apps/com.example.none/channels/production/refresh", 404),
      Call(.get, channels + "/{id}", shop + "/1", 200), Call(.get, channels + "/{id}", shop + "/999", 404),
      Call(.delete, channels + "/{id}", shop + "/1", 204), Call(.delete, channels + "/{id}", shop + "/1", 404),
      Call(.get, topics, shopTopics, 200), Call(.get, topics, "/apps/\(Self.app)/topics/staging", 404),
      Call(.post, topics + "/subscribe", shopTopics + "/subscribe", 200, json: news),
      Call(.post, topics + "/subscribe", shopTopics + "/subscribe", 422, json: ["topic": "a b", "tokens": []]),
      Call(.post, topics + "/unsubscribe", shopTopics + "/unsubscribe", 200, json: news),
      Call(.post, topics + "/unsubscribe", "/apps/com.example.none/topics/production/unsubscribe", 404, json: news),
      Call(.get, "/apps/{app}/topic-rules", "/apps/\(Self.app)/topic-rules", 200),
      Call(.get, "/apps/{app}/topic-rules", "/apps/com.example.none/topic-rules", 404),
      Call(.put, "/apps/{app}/topic-rules", "/apps/\(Self.app)/topic-rules", 200, json: ["rules": ["version"]]),
      Call(.put, "/apps/{app}/topic-rules", "/apps/\(Self.app)/topic-rules", 422, json: ["rules": ["weather"]]),
      Call(.put, "/devices", 201, json: device), Call(.put, "/devices", 200, json: device),
      Call(.put, "/devices", 422, json: device.with("token", "short")),
      Call(.put, "/devices", 404, json: device.with("app", "com.example.none")),
      Call(.get, "/devices", "/devices?app=\(Self.app)&limit=2", 200),
      Call(.get, "/devices", "/devices?app=com.example.none", 422),
      Call(.get, "/devices", "/devices?cursor=x", 422), Call(.get, "/devices/{id}", "/devices/1", 200),
      Call(.get, "/devices/{id}", "/devices/999", 404),
      Call(.patch, "/devices/{id}", "/devices/1", 200, json: ["alias": .null, "tags": ["a", "b"], "name": "One"]),
      Call(.patch, "/devices/{id}", "/devices/1", 422, json: ["state": "dead"]),
      Call(.post, "/devices/batch", 200, json: ["action": "add_tags", "devices": [1, 999], "tags": ["vip"]]),
      Call(.post, "/devices/batch", 422, json: ["action": "merge", "devices": [1]]),
      Call(.delete, "/devices/{id}", "/devices/2", 204), Call(.delete, "/devices/{id}", "/devices/2", 404),
      Call(.post, "/devices/import", 200).with("application/x-ndjson", line),
      Call(.post, "/devices/import", 422).with("text/csv", Array("app,colour\nx,y\n".utf8)),
      Call(.post, "/devices/import", 415).with("application/json", line),
      Call(.post, "/audience/count", 200, json: count),
      Call(.post, "/audience/explain", 200, json: count.with("device", "1")),
      Call(.post, "/audience/explain", 422, json: count.with("device", "nobody")),
      Call(.post, "/audience/explain", 422, json: count.with("audience", ["segment": ["none"]])),
      Call(.post, "/audience/explain", 404, json: count.with("app", "com.example.none")),
      Call(.post, segments, shopSegments, 201, json: old), Call(.post, segments, shopSegments, 422, json: old),
      Call(.get, segments, shopSegments, 200), Call(.get, segments, "/apps/com.example.none/segments", 404),
      Call(.get, segments + "/{segment}", shopSegments + "/1", 200),
      Call(.get, segments + "/{segment}", shopSegments + "/9", 404),
      Call(.put, segments + "/{segment}", shopSegments + "/1", 200, json: old.with("name", "Older")),
      Call(.put, segments + "/{segment}", shopSegments + "/1", 422, json: old.with("rule", [:])),
      Call(.get, segments + "/{segment}/devices", shopSegments + "/1/devices", 200),
      Call(.get, segments + "/{segment}/devices", shopSegments + "/1/devices?cursor=x", 422),
      Call(.delete, segments + "/{segment}", shopSegments + "/1", 204),
      Call(.delete, segments + "/{segment}", shopSegments + "/1", 404),
      Call(.post, "/audience/count", 422, json: count.with("audience", [:])),
      Call(.post, "/audience/count", 404, json: count.with("app", "com.example.none")),
      Call(.post, "/pushes", 202, json: draft), Call(.post, "/pushes", 200, json: dry),
      Call(.post, "/pushes", 422, json: draft.with("titel", "x")),
      Call(.post, "/pushes", 404, json: draft.with("app", "com.example.none")),
      Call(.post, "/pushes/dialects", 200, json: draft), Call(.post, "/pushes/dialects", 422, json: [:]),
      Call(.post, "/pushes/dialects/read", 200, json: ["text": "{\"aps\": {\"alert\": \"Hi\"}, \"sbid\": \"x\"}"]),
      Call(.post, "/pushes/dialects/read", 422, json: ["text": "hello"]),
      Call(.get, "/pushes", 200), Call(.get, "/pushes", "/pushes?state=odd", 422),
      Call(.get, "/pushes/{id}", "/pushes/\(push)", 200), Call(.get, "/pushes/{id}", "/pushes/none", 404),
      Call(.get, "/pushes/{id}/deliveries", "/pushes/\(push)/deliveries?limit=2", 200),
      Call(.get, "/pushes/{id}/deliveries", "/pushes/\(push)/deliveries?outcome=delivered", 422),
      Call(.get, "/pushes/{id}/events", "/pushes/none/events", 404),
      Call(.get, "/pushes/{id}/receipts/events", "/pushes/none/receipts/events", 404),
      Call(.get, "/apps/{app}/client-keys", "/apps/\(Self.app)/client-keys", 200),
      Call(.get, "/apps/{app}/client-keys", "/apps/com.example.none/client-keys", 404),
      Call(.post, "/apps/{app}/client-keys", "/apps/com.example.none/client-keys", 404),
      Call(.delete, "/apps/{app}/client-keys/{key}", "/apps/\(Self.app)/client-keys/none", 404),
      Call(.post, "/pushes/{id}/cancel", "/pushes/\(push)/cancel", 409),
      Call(.post, "/pushes/{id}/pause", "/pushes/\(push)/pause", 409),
      Call(.post, "/pushes/{id}/resume", "/pushes/none/resume", 404),
      Call(.post, "/pushes/{id}/retry", "/pushes/\(push)/retry", 409),
      Call(.get, "/incidents", 200), Call(.get, "/incidents", "/incidents?state=odd", 422),
      Call(.get, "/incidents/{id}", "/incidents/1", 200), Call(.get, "/incidents/{id}", "/incidents/999", 404),
      Call(.patch, "/incidents/{id}", "/incidents/1", 422, json: ["state": "snoozed"]),
      Call(
        .patch, "/incidents/{id}", "/incidents/1", 200,
        json: ["state": "closed", "remark": "Shortened", "assignee": .null]),
      Call(.patch, "/incidents/{id}", "/incidents/999", 404, json: ["state": "open"]),
      Call(.post, "/incidents/{id}/move", "/incidents/999/move", 404),
      Call(.post, "/incidents/{id}/move-back", "/incidents/999/move-back", 404),
      Call(.get, "/schedules", 200), Call(.get, "/schedules", "/schedules?state=odd", 422),
      Call(.get, one, "/schedules/\(schedule)", 200), Call(.get, one, "/schedules/none", 404),
      Call(.get, one + "/occurrences", "/schedules/\(schedule)/occurrences", 200),
      Call(.get, one + "/occurrences", "/schedules/none/occurrences", 404),
      Call(.post, one + "/resume", "/schedules/\(schedule)/resume", 409),
      Call(.post, one + "/pause", "/schedules/\(schedule)/pause", 200),
      Call(.post, one + "/pause", "/schedules/\(schedule)/pause", 409),
      Call(.post, one + "/resume", "/schedules/\(schedule)/resume", 200),
      Call(.post, one + "/cancel", "/schedules/\(schedule)/cancel", 200),
      Call(.post, one + "/cancel", "/schedules/\(schedule)/cancel", 409),
      Call(.post, "/templates", 201, json: ["name": "Hello", "content": ["notification": ["body": "Hi {{name}}"]]]),
      Call(.post, "/templates", 422, json: ["name": "Hello", "content": ["notification": ["boddy": "x"]]]),
      Call(.get, "/templates", 200), Call(.get, "/templates", "/templates?limit=0", 422),
      Call(.get, template, "/templates/1", 200), Call(.get, template, "/templates/999", 404),
      Call(.patch, template, "/templates/1", 200, json: ["name": "Hello again"]),
      Call(.patch, template, "/templates/1", 422, json: [:]),
      Call(.delete, template, "/templates/1", 204), Call(.delete, template, "/templates/1", 404),
      Call(.post, "/smoke-tests", 201, json: ["name": "Hello", "push": draft, "expected": ["displayed_within": 5]]),
      Call(.post, "/smoke-tests", 422, json: ["name": "Hello", "push": draft.with("titel", "x")]),
      Call(.get, "/smoke-tests", 200), Call(.get, "/smoke-tests", "/smoke-tests?app=com.example.none", 422),
      Call(.get, smoke, "/smoke-tests/1", 200), Call(.get, smoke, "/smoke-tests/999", 404),
      Call(.patch, smoke, "/smoke-tests/1", 200, json: ["expected": ["devices": ["x": "Unregistered"]]]),
      Call(.patch, smoke, "/smoke-tests/1", 422, json: ["expected": ["others": "x y"]]),
      Call(.post, smoke + "/runs", "/smoke-tests/1/runs?wait=5min", 200),
      Call(.post, smoke + "/runs", "/smoke-tests/999/runs", 404),
      Call(.get, smoke + "/runs", "/smoke-tests/1/runs", 200),
      Call(.get, smoke + "/runs", "/smoke-tests/999/runs", 404),
      Call(.get, smoke + "/runs/{run}", "/smoke-tests/1/runs/1", 200),
      Call(.get, smoke + "/runs/{run}", "/smoke-tests/1/runs/999", 404),
      Call(.delete, smoke, "/smoke-tests/1", 204), Call(.delete, smoke, "/smoke-tests/1", 404),
      Call(.post, "/pushes/{id}/move", "/pushes/none/move", 404),
      Call(.post, "/pushes/{id}/move-back", "/pushes/\(push)/move-back", 409),
      Call(.get, "/certificates", 200), Call(.get, "/certificates", "/certificates?within=soon", 422),
      Call(.get, "/certificates/{id}", "/certificates/\(certificate)", 200),
      Call(.get, "/certificates/{id}", "/certificates/999", 404),
    ]
      + reminderCalls(certificate) + webhookCalls + tokenCalls + peopleCalls + settingsCalls + Self.serviceCalls + [
        Call(
          .patch, "/certificates/{id}", "/certificates/\(certificate)", 200,
          json: ["name": "Push", "made_by": "anna@example.com", "note": "two\nlines", "app": .string(Self.app)]),
        Call(
          .patch, "/certificates/{id}", "/certificates/\(certificate)", 422,
          json: ["name": "", "colour": 1, "note": .string(String(repeating: "x", count: 2001))]),
        Call(.post, "/certificates", 201).with(upload(good).contentType, upload(good).body),
        Call(.post, "/certificates", 409).with(upload(good).contentType, upload(good).body),
        Call(.post, "/certificates", 200).with(upload(good).contentType, upload(good, dryRun: true).body),
        Call(.post, "/certificates", 422).with(upload(bad).contentType, upload(bad).body),
        Call(.post, "/certificates", 415, json: [:]),
        Call(.post, "/certificates/{id}/renew", "/certificates/\(certificate)/renew", 422)
          .with(upload(bad).contentType, upload(bad).body),
        Call(.post, "/certificates/{id}/renew", "/certificates/\(certificate)/renew", 200)
          .with(successor.contentType, successor.body),
        Call(.post, "/certificates/{id}/undo", "/certificates/\(certificate)/undo", 200),
        Call(.post, "/certificates/{id}/undo", "/certificates/\(certificate)/undo", 409),
        Call(.post, "/certificate-requests", 201, json: ["hosts": ["push.example.com"]]),
        Call(.post, "/certificate-requests", 422, json: [:]),
        Call(.get, "/certificate-requests", 200), Call(.get, "/certificate-requests", "/certificate-requests?a=b", 422),
        Call(.get, "/certificate-requests/{uid}", "/certificate-requests/\(request)", 200),
        Call(.get, "/certificate-requests/{uid}", "/certificate-requests/none", 404),
        Call(.delete, "/certificate-requests/{uid}", "/certificate-requests/\(request)", 204),
        Call(.delete, "/certificate-requests/{uid}", "/certificate-requests/\(request)", 404),
        Call(.delete, "/certificates/{id}", "/certificates/\(certificate)", 409),
        Call(.get, key, "/apps/\(Self.app)/jpush-key", 404),
        Call(.post, key, "/apps/\(Self.app)/jpush-key", 201), Call(.get, key, "/apps/\(Self.app)/jpush-key", 200),
        Call(.post, key, "/apps/com.example.none/jpush-key", 404),
        Call(.delete, key, "/apps/\(Self.app)/jpush-key", 204), Call(.delete, key, "/apps/\(Self.app)/jpush-key", 404),
        Call(.delete, credential, "/apps/\(Self.app)/credentials/development", 204),
        Call(.delete, credential, "/apps/\(Self.app)/credentials/development", 404),
        Call(.delete, credential, "/apps/\(Self.app)/credentials/production?provider=fcm", 204),
        Call(.delete, credential, "/apps/\(Self.app)/credentials/production?provider=fcm", 404),
        Call(.delete, "/certificates/{id}", "/certificates/\(certificate)", 204),
        Call(.delete, "/apps/{app}", "/apps/com.example.none", 404),
        Call(.post, "/hosts", 201, json: ["host": "mail.example.com", "port": 587, "note": "mail"]),
        Call(.post, "/hosts", 422, json: ["host": "not a host"]),
        Call(.get, "/activity/check", 200), Call(.get, "/activity/check", "/activity/check?limit=1", 422),
        Call(.get, "/activity", 200), Call(.get, "/activity", "/activity?kind=other", 422),
        Call(.get, "/hosts", 200), Call(.get, "/hosts", "/hosts?limit=0", 422),
        Call(.get, "/hosts/{id}", "/hosts/1", 200), Call(.get, "/hosts/{id}", "/hosts/999", 404),
        Call(.patch, "/hosts/{id}", "/hosts/1", 200, json: ["note": "post"]),
        Call(.patch, "/hosts/{id}", "/hosts/999", 404, json: ["note": "post"]),
        Call(.post, "/hosts/{id}/probe", "/hosts/1/probe", 200),
        Call(.post, "/hosts/{id}/probe", "/hosts/999/probe", 404),
        Call(.put, taken, "/hosts/1/acknowledgement", 200, json: ["until": "2026-11-25T00:00:00Z"]),
        Call(.put, taken, "/hosts/999/acknowledgement", 404, json: ["until": "2026-11-25T00:00:00Z"]),
        Call(.delete, taken, "/hosts/1/acknowledgement", 204), Call(.delete, taken, "/hosts/1/acknowledgement", 404),
        Call(.delete, "/hosts/{id}", "/hosts/1", 204), Call(.delete, "/hosts/{id}", "/hosts/1", 404),
        Call(.get, "/settings/retention", 200),
        Call(.get, "/settings/retention", "/settings/retention?days=1", 422),
        Call(.put, "/settings/retention", 200, json: ["deliveries_days": 30, "dry_run": true]),
        Call(.put, "/settings/retention", 422, json: ["deliveries_days": -1]),
      ]
  }

  /// People; the first is invited by the first call.
  private var peopleCalls: [Call] {
    let (one, first) = ("/people/{id}", "/people/1")
    return [
      Call(.post, "/people", 201, json: ["name": "lin@example.com", "role": "operator"]),
      Call(.post, "/people", 422, json: ["name": "lin@example.com", "role": "operator"]),
      Call(.post, "/people", 422, json: ["name": "lin", "role": "owner"]),
      Call(.get, "/people", 200), Call(.get, "/people", "/people?colour=blue", 422),
      Call(.get, one, first, 200), Call(.get, one, "/people/999", 404),
      Call(.patch, one, first, 200, json: ["role": "viewer", "disabled": true]),
      Call(.patch, one, first, 422, json: [:]), Call(.post, one + "/link", first + "/link", 422),
      Call(.patch, one, first, 200, json: ["disabled": false]),
      Call(.post, one + "/link", first + "/link", 200), Call(.post, one + "/link", "/people/999/link", 404),
      Call(.delete, one + "/sessions", first + "/sessions", 204),
      Call(.delete, one + "/sessions", "/people/999/sessions", 404),
      Call(.delete, one + "/second-step", first + "/second-step", 204),
      Call(.delete, one + "/second-step", "/people/999/second-step", 404),
      Call(.delete, one + "/identities", first + "/identities", 204),
      Call(.delete, one + "/identities", "/people/999/identities", 404),
      Call(.delete, one, first, 204), Call(.delete, one, first, 404),
    ]
  }

  /// Webhooks; the first stays for ``last(_:_:_:)``.
  private var webhookCalls: [Call] {
    let (one, deliveries) = ("/webhooks/{id}", "/webhooks/{id}/deliveries")
    // Nobody listens there: that a test is not taken is an answer.
    let hook: JSONValue = [
      "name": "Billing", "url": "http://127.0.0.1:1/x", "app": .string(Self.app),
      "events": ["push.finished", "device.dead"],
    ]
    return [
      Call(.post, "/webhooks", 201, json: hook), Call(.post, "/webhooks", 422, json: hook.with("url", "ftp://x")),
      Call(.post, "/webhooks", 422, json: hook.with("events", ["push.started"])),
      Call(.get, "/webhooks", 200), Call(.get, "/webhooks", "/webhooks?colour=blue", 422),
      Call(.get, one, "/webhooks/1", 200), Call(.get, one, "/webhooks/999", 404),
      Call(.patch, one, "/webhooks/1", 200, json: ["name": "Bills", "app": .null, "active": true]),
      Call(.patch, one, "/webhooks/1", 422, json: ["secret": "mine"]),
      Call(.post, one + "/secret", "/webhooks/1/secret", 200),
      Call(.post, one + "/secret", "/webhooks/999/secret", 404),
      Call(.post, one + "/test", "/webhooks/1/test", 200), Call(.post, one + "/test", "/webhooks/999/test", 404),
      Call(.get, deliveries, "/webhooks/1/deliveries?limit=1", 200),
      Call(.get, deliveries, "/webhooks/1/deliveries?cursor=x", 422),
      Call(.post, deliveries + "/{uid}/redeliver", "/webhooks/1/deliveries/none/redeliver", 404),
      Call(.delete, one, "/webhooks/999", 404),
    ]
  }

  /// The scene has a token for each role.
  private var tokenCalls: [Call] {
    let (one, rights) = ("/tokens/{id}", ["read", "send-development"] as JSONValue)
    return [
      Call(.post, "/tokens", 201, json: ["name": "ci", "scopes": rights, "addresses": ["::1"], "expires": "never"]),
      Call(.post, "/tokens", 422, json: ["name": "ci", "scopes": ["root"]]),
      Call(.get, "/tokens", 200), Call(.get, "/tokens", "/tokens?limit=1", 422),
      Call(.get, one, "/tokens/4", 200), Call(.get, one, "/tokens/999", 404),
      Call(.delete, one, "/tokens/4", 204), Call(.delete, one, "/tokens/4", 409),
      Call(.delete, one, "/tokens/999", 404),
    ]
  }

  /// The mail server, and when people are reminded.
  private var settingsCalls: [Call] {
    let (mail, test, reminders) = ("/settings/mail", "/settings/mail/test", "/settings/reminders")
    // Nobody listens there: that a test is not taken is an answer.
    let server: JSONValue = [
      "host": "127.0.0.1", "port": 1, "security": "none", "user": "box", "password": "topsecret",
      "from": "box@example.com", "from_name": "Box",
    ]
    let (oidc, second) = ("/settings/oidc", "/settings/second-step")
    let provider: JSONValue = [
      "issuer": "http://127.0.0.1:1", "client_id": "box", "client_secret": "topsecret", "label": "ID",
      "admission": "domains", "domains": ["example.com"], "role_claim": "groups", "role_rules": ["ops = admin"],
    ]
    return [
      Call(.get, mail, 404), Call(.delete, mail, 404), Call(.post, test, 409, json: ["to": "ops@example.com"]),
      Call(.put, mail, 422, json: ["host": "a b"]), Call(.put, mail, 200, json: server), Call(.get, mail, 200),
      Call(.post, test, 200, json: ["to": "ops@example.com", "language": "zh-Hans"]),
      Call(.post, test, 422, json: ["to": "nobody", "language": "fr"]), Call(.delete, mail, 204),
      Call(.get, oidc, 404), Call(.delete, oidc, 404), Call(.post, "/settings/oidc/test", 409),
      Call(.put, oidc, 422, json: ["issuer": "x"]), Call(.put, oidc, 200, json: provider), Call(.get, oidc, 200),
      Call(.post, "/settings/oidc/test", 200), Call(.delete, oidc, 204),
      Call(.put, second, 200, json: ["required": "admins", "provider": true]),
      Call(.put, second, 422, json: ["required": "some"]), Call(.get, second, 200),
      Call(.get, second, "/settings/second-step?colour=blue", 422),
      Call(.get, reminders, 200), Call(.get, reminders, "/settings/reminders?colour=blue", 422),
      Call(.put, reminders, 200, json: ["days": [30, 5], "hour": 9, "zone": "Asia/Shanghai"]),
      Call(.put, reminders, 422, json: ["days": [7]]),
      Call(.delete, "/settings/reminders/checks/cron", 204), Call(.delete, "/settings/reminders/checks/cron", 404),
    ]
  }

  /// Receivers, acknowledgements and the log.
  private func reminderCalls(_ certificate: Int64) -> [Call] {
    let taken = "/certificates/{id}/acknowledgement"
    let place = "/certificates/\(certificate)/acknowledgement"
    // Nobody listens there: that a test is not taken is an answer.
    let hook: JSONValue = ["channel": "webhook", "name": "Ops", "address": "http://127.0.0.1:1/x", "secret": "s"]
    return [
      Call(.put, taken, place, 200, json: ["until": "2026-11-25T00:00:00Z"]),
      Call(.put, taken, place, 422, json: ["until": "2020-01-01T00:00:00Z"]),
      Call(.delete, taken, place, 204), Call(.delete, taken, place, 404),
      Call(.post, "/receivers", 201, json: hook), Call(.post, "/receivers", 422, json: ["channel": "webhook"]),
      Call(.get, "/receivers", 200), Call(.get, "/receivers", "/receivers?colour=blue", 422),
      Call(.get, "/receivers/{id}", "/receivers/1", 200), Call(.get, "/receivers/{id}", "/receivers/999", 404),
      Call(.patch, "/receivers/{id}", "/receivers/1", 200, json: ["name": "Operations", "active": false]),
      Call(.patch, "/receivers/{id}", "/receivers/1", 422, json: ["channel": "slack"]),
      Call(.post, "/receivers/{id}/test", "/receivers/1/test", 200),
      Call(.post, "/receivers/{id}/test", "/receivers/999/test", 404),
      Call(.get, "/reminders", 200), Call(.get, "/reminders", "/reminders?limit=0", 422),
      Call(.delete, "/receivers/{id}", "/receivers/1", 204), Call(.delete, "/receivers/{id}", "/receivers/1", 404),
    ]
  }

  @Test("every operation's success and its errors fit the document")
  func answers() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with(look: { _ in .success(HostSamples.sighting()) }) { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(6, of: app)
      // Of this push alone: the next ones are answered as above.
      scene.provider.answer { _ in
        .outcome(.rejected(status: 413, reason: "PayloadTooLarge", tokenInvalidSince: nil))
      }
      try await scene.send(
        PushDraft(
          app: Self.app, environment: .development, platforms: [.ios], audience: .all, notification: PushNotification())
      )
      scene.provider.answer { member in
        member.id.isMultiple(of: 2)
          ? .outcome(.rejected(status: 410, reason: "Unregistered", tokenInvalidSince: nil)) : .outcome(.accepted)
      }
      let push = try await self.push(scene)
      try await Self.answerServices(scene, app)
      let certificate = try await CertificateSamples.keep(scene)
      let draft = PushDraft(
        app: Self.app, environment: .development, platforms: [.ios], audience: .all, notification: PushNotification())
      let schedule = try await scene.addSchedule(draft).uid
      try await scene.store.write { try CheckRun(source: .cron, at: ConsoleScene.noon, exitCode: 0).keep($0) }
      let request = try await scene.store.write { [sealer = scene.store.sealer] database in
        try SigningRequest.add(
          database,
          .init(purpose: .host, subject: "CN=x", algorithm: .p256, publicKeySHA256: "ab", pem: "x"), key: [1],
          sealer: sealer, by: "test", now: ConsoleScene.noon
        ).uid
      }
      var met: [OpenAPIDocument.Operation: Set<Bool>] = [:]
      for call in try calls(push: push, schedule: schedule, certificate: certificate, request: request) {
        let answer = try await scene.call(
          call.method, call.target, as: .admin, json: call.json, headers: call.headers, body: call.body)
        #expect(answer.status == call.status, "\(call.operation) \(call.target): \(answer.text)")
        #expect(try document.errors(answer, to: call.operation) == [], "\(call.operation) \(call.target)")
        met[call.operation, default: []].insert(answer.status < 300)
        if let json = call.json, answer.status < 300 {
          #expect(try document.requestErrors(json, of: call.operation) == [], "what was taken must be described")
        }
      }
      try await last(scene, document, &met)
      let both: Set = [true, false]
      // Those of the simulator have a suite of their own.
      let operations = document.operations.filter { $0.path.hasPrefix("/api/") }
      #expect(operations.filter { met[$0] != both } == [], "without a success or without an error")
      #expect(scene.log.entries.filter { $0.level >= .error }.map(\.message) == [])
    }
  }

  /// What needs a push under way, or an app without one.
  private func last(
    _ scene: ConsoleScene, _ document: OpenAPIDocument, _ met: inout [OpenAPIDocument.Operation: Set<Bool>]
  ) async throws {
    func note(_ answer: SceneAnswer, _ status: Int, _ method: String, _ path: String) throws {
      let operation = OpenAPIDocument.Operation(method: method, path: "/api/v1" + path)
      #expect(answer.status == status, "\(operation): \(answer.text)")
      #expect(try document.errors(answer, to: operation) == [], "\(operation)")
      met[operation, default: []].insert(answer.status < 300)
    }
    let app = "/api/v1/apps/\(Self.app)"
    // What needs a second person.
    try note(
      try await scene.call(.patch, app, as: .admin, json: ["production_needs_approval": true]), 200, "PATCH",
      "/apps/{app}")
    _ = try await scene.signIn(.operator, name: "colleague@example.com")
    let colleague = try await ApprovalPageTests.token(scene, of: "colleague@example.com", ["operator"])
    let asked: JSONValue = [
      "app": .string(Self.app), "environment": "production", "platforms": ["ios"], "audience": "all",
      "notification": ["body": "x"], "options": ["allow_empty_audience": true],
    ]
    let daily: JSONValue = ["every": "day", "at": "09:00", "time_zone": "UTC"]
    for (noun, body) in [("pushes", asked), ("schedules", asked.with("repeat", daily))] {
      for verb in ["reject", "approve"] {
        let made = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: body)
        let id = try #require(made.json?["id"]?.string, "\(made.text)")
        for status in [200, 409] {
          let answer = try await scene.call(.post, "/api/v1/\(noun)/\(id)/\(verb)", as: nil, headers: colleague)
          try note(answer, status, "POST", "/\(noun)/{id}/\(verb)")
        }
        if noun == "pushes" { _ = try await scene.finished(id) }
      }
    }
    _ = try await scene.call(.patch, app, as: .admin, json: ["production_needs_approval": false])
    // For production the app has its credential still.
    scene.provider.answer { _ in nil }
    let device = try await scene.store.read { try App.find($0, bundleID: Self.app) }
    try await scene.addDevices(3, of: try #require(device), environment: .production)
    let draft: JSONValue = [
      "app": .string(Self.app), "environment": "production", "platforms": ["ios"], "audience": "all",
      "notification": ["body": "x"],
    ]
    let uid = try await scene.send(draft)
    try note(try await scene.call(.delete, app, as: .admin), 409, "DELETE", "/apps/{app}")
    for (verb, status) in [("pause", 200), ("resume", 200), ("cancel", 200)] {
      let answer = try await scene.call(.post, "/api/v1/pushes/\(uid)/\(verb)", as: .operator)
      try note(answer, status, "POST", "/pushes/{id}/\(verb)")
    }
    #expect(try await scene.finished(uid).state == .cancelled)
    // Its events are over a socket in APIEventsTests; here the head alone.
    let events = try await scene.call(.get, "/api/v1/pushes/\(uid)/events", as: .viewer)
    #expect(events.status == 200 && events.type == "text/event-stream")
    met[.init(method: "GET", path: "/api/v1/pushes/{id}/events"), default: []].insert(true)
    let receipts = try await scene.call(.get, "/api/v1/pushes/\(uid)/receipts/events", as: .viewer)
    #expect(receipts.status == 200 && receipts.type == "text/event-stream")
    met[.init(method: "GET", path: "/api/v1/pushes/{id}/receipts/events"), default: []].insert(true)
    let told = try await scene.call(.get, "/api/v1/webhooks/1/deliveries", as: .admin)
    let event = try #require(told.json?["items"]?.array?.first?["id"]?.string)
    try note(
      try await scene.call(.post, "/api/v1/webhooks/1/deliveries/\(event)/redeliver", as: .admin), 202, "POST",
      "/webhooks/{id}/deliveries/{uid}/redeliver")
    try note(try await scene.call(.delete, "/api/v1/webhooks/1", as: .admin), 204, "DELETE", "/webhooks/{id}")
    let made = try await scene.call(.post, app + "/client-keys", as: .admin)
    try note(made, 201, "POST", "/apps/{app}/client-keys")
    let key = try #require(made.json?["key"]?.string)
    try note(
      try await scene.call(.delete, "\(app)/client-keys/\(key)", as: .admin), 204, "DELETE",
      "/apps/{app}/client-keys/{key}")
    scene.provider.answer { _ in .outcome(.unknown(reason: OwnReason.timedOut.rawValue)) }
    let parent = try await scene.finished(scene.send(draft))
    let retry = try await scene.call(.post, "/api/v1/pushes/\(parent.uid)/retry", as: .operator)
    try note(retry, 202, "POST", "/pushes/{id}/retry")
    scene.provider.answer { _ in .outcome(.accepted) }
    for push in try await scene.store.read({ try Push.unfinished($0) }) { _ = try await scene.finished(push.uid) }
    // Registered before they are refused, or the refusal would not count.
    try await scene.store.write { _ = try $0.run("UPDATE devices SET registered_at = registered_at - 1000") }
    scene.provider.answer { _ in .outcome(.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil)) }
    let refused = try await scene.finished(scene.send(draft))
    for verb in ["move", "move-back"] {
      let answer = try await scene.call(.post, "/api/v1/pushes/\(refused.uid)/\(verb)", as: .operator)
      try note(answer, 200, "POST", "/pushes/{id}/\(verb)")
    }
    let incidents = try await scene.call(.get, "/api/v1/incidents", as: .viewer).json?["items"]?.array ?? []
    let parked = try #require(incidents.first { $0["reason"] == "BadDeviceToken" }?["id"]?.integer)
    for verb in ["move", "move-back"] {
      let answer = try await scene.call(.post, "/api/v1/incidents/\(parked)/\(verb)", as: .operator)
      try note(answer, 200, "POST", "/incidents/{id}/\(verb)")
    }
    scene.provider.answer { _ in .outcome(.accepted) }
    try note(try await scene.call(.delete, app, as: .admin), 204, "DELETE", "/apps/{app}")
    #expect(try await scene.store.read { try App.all($0).map(\.bundleID) } == ["com.example.new"])
  }

  /// A push with outcomes of two kinds.
  private func push(_ scene: ConsoleScene) async throws -> String {
    let draft: JSONValue = [
      "app": .string(Self.app), "environment": "development", "platforms": "all", "audience": "all",
      "notification": ["body": "x"],
    ]
    let uid = try await scene.send(draft)
    let push = try await scene.finished(uid)
    #expect(push.counts.accepted == 3 && push.counts.deadToken == 3)
    return uid
  }
}

extension JSONValue {
  /// The same object with one member changed.
  func with(_ name: String, _ value: JSONValue) -> JSONValue {
    .object((object ?? [:]).merging([name: value]) { $1 })
  }

  /// The same object without one member.
  func without(_ name: String) -> JSONValue { .object((object ?? [:]).filter { $0.key != name }) }
}
