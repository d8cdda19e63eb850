import Foundation
import HTTP2
import JSON
import Model
import OpenSSL
import Testing

@testable import Simulator

@Suite("Simulated FCM")
struct FCMServiceTests {
  // MARK: Access tokens

  @Test("an access token is given for a signed assertion, and expires")
  func accessToken() async throws {
    let scene = try await FCMScene()
    let given = try await scene.signIn()
    #expect(given.status == 200 && given.json["expires_in"] == 3599 && given.json["token_type"] == "Bearer")
    #expect(given.json["access_token"]?.string?.hasPrefix("ya29.") == true)
    #expect(try await scene.notify("a").status == 200)
    scene.pass(3600)
    let late = try await scene.notify("b")
    #expect(late.status == 401 && late.codes == ["ACCESS_TOKEN_EXPIRED"])
    #expect(late.json["error"]?["status"] == "UNAUTHENTICATED")
    let path = "/v1/projects/p/messages:send"
    let unknown = try await scene.call("POST", path, authorization: "Bearer ya29.x")
    #expect(unknown.status == 401 && unknown.codes == ["ACCESS_TOKEN_TYPE_UNSUPPORTED"])
    #expect(try await scene.call("POST", path, authorization: "").codes == ["CREDENTIALS_MISSING"])
    #expect(try await scene.call("POST", path, authorization: "key=abc").status == 401)
  }

  @Test("access tokens are given at Google's older addresses, too", arguments: ["/o/oauth2/token", "/oauth2/v4/token"])
  func olderAddresses(path: String) async throws {
    let scene = try await FCMScene()
    let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
    let assertion = try scene.assertion([("aud", .string("https://accounts.google.com/o/oauth2/token"))])
    let given = try await scene.call(
      "POST", path, body: "grant_type=\(grant)&assertion=\(assertion)", authorization: "")
    #expect(given.status == 200 && given.json["access_token"]?.string?.hasPrefix("ya29.") == true)
  }

  @Test("an assertion that Google refuses is refused with Google's error")
  func assertions() async throws {
    let scene = try await FCMScene()
    let time = Int64(scene.now.timeIntervalSince1970)
    func error(_ changes: [(String, JSONWebToken.Claim?)]) async throws -> String? {
      let reply = try await scene.signIn(try scene.assertion(changes))
      #expect(reply.status == 400 && reply.json["error_description"] != nil, "\(changes)")
      return reply.json["error"]?.string
    }
    #expect(try await error([("iss", nil)]) == "invalid_grant")
    #expect(try await error([("iss", "nobody")]) == "invalid_grant")
    #expect(try await error([("aud", "https://example.com/")]) == "invalid_grant")
    #expect(try await error([("exp", nil)]) == "invalid_grant")
    #expect(try await error([("exp", .integer(time + 7200))]) == "invalid_grant")
    #expect(try await error([("iat", .integer(time - 9000)), ("exp", .integer(time - 6000))]) == "invalid_grant")
    #expect(try await error([("iat", .integer(time + 1000))]) == "invalid_grant")
    #expect(try await error([("iat", .integer(.min))]) == "invalid_grant")
    #expect(try await error([("exp", .integer(.max))]) == "invalid_grant")
    #expect(try await error([("scope", nil)]) == "invalid_scope")
    #expect(try await error([("scope", "https://www.googleapis.com/auth/drive")]) == "invalid_scope")
    #expect(try await scene.signIn("abc").json["error"] == "invalid_grant")
    #expect(try await scene.signIn(grant: "password").json["error"] == "unsupported_grant_type")
    #expect(try await scene.signIn("").json["error"] == "invalid_request")
    let both = "https://www.googleapis.com/auth/userinfo.email https://www.googleapis.com/auth/cloud-platform"
    #expect(try await scene.signIn(try scene.assertion([("scope", .string(both))])).status == 200)
  }

  @Test("with a service account only its signature counts")
  func account() async throws {
    let email = "test@simulator.iam.gserviceaccount.com"
    let scene = try await FCMScene {
      $0.serviceAccount = FCMServiceAccount(email: email, key: try FCMScene.key.publicKey)
    }
    #expect(try await scene.signIn().status == 200)
    let other = try await scene.signIn(try scene.assertion(key: try PrivateKey.generateRSA()))
    #expect(other.json["error_description"] == "Invalid JWT Signature.")
    let stranger = try await scene.signIn(try scene.assertion([("iss", "other@example.com")]))
    #expect(stranger.json["error_description"] == "Invalid grant: account not found")
  }

  @Test("a service account sends for its own project, and nobody else's")
  func project() async throws {
    let scene = try await FCMScene {
      $0.serviceAccount = FCMServiceAccount(
        email: "test@simulator.iam.gserviceaccount.com", key: try FCMScene.key.publicKey, project: "simulator")
    }
    #expect(try await scene.notify("a").status == 200)
    let token = scene.phone.tokenText.replacing(":", with: "%3A")
    for path in ["messages:send", "registrations/\(token)/topicSubscriptions"] {
      let refused = try await scene.call("POST", "/v1/projects/other/\(path)", body: "{}")
      #expect(refused.status == 403 && refused.json["error"]?["status"] == "PERMISSION_DENIED", "\(path)")
    }
    #expect(try scene.titles() == ["a"])
  }

  // MARK: Answers

  @Test("a message gets a name; a dry run checks the token and reaches nobody")
  func sending() async throws {
    let scene = try await FCMScene()
    let name = try await scene.notify("a").json["name"]?.string ?? ""
    #expect(name.wholeMatch(of: #/projects/simulator/messages/0:\d{16}%[0-9a-f]{16}/#) != nil, "\(name)")
    let token = JSONValue.string(scene.phone.tokenText)
    let dry = try await scene.send(["token": token, "notification": ["title": "dry"]], dry: true)
    #expect(dry.json == ["name": "projects/simulator/messages/fake_message_id"])
    #expect(try scene.titles() == ["a"])
    #expect(try scene.current().received.first?.apnsID == name)
    let camel = try await scene.call(
      "POST", "/v1/projects/p/messages:send",
      body: #"{"validateOnly":true,"message":{"token":"\#(scene.phone.tokenText)","android":{"collapseKey":"k"}}}"#)
    #expect(camel.status == 200)
    #expect(try await scene.send(["fid": .string(scene.phone.installationID ?? ""), "data": ["a": "b"]]).status == 200)
    #expect(try scene.titles() == ["-", "a"])
  }

  @Test("an iPhone that is registered with FCM gets the block apns, with the common parts where it has no other")
  func iPhone() async throws {
    let scene = try await FCMScene()
    let phone = try scene.book.add(
      NewPhone(name: "Ada", platform: .ios, provider: .fcm, environment: .production, topic: "com.example.shop"))
    #expect(phone.provider == .fcm && phone.android == nil && phone.tokenText.contains(":APA91"))
    let token = JSONValue.string(phone.tokenText)
    @discardableResult
    func send(_ message: [String: JSONValue]) async throws -> SimulatedReply {
      try await scene.send(.object(message.merging(["token": token]) { $1 }))
    }
    func newest() throws -> ReceivedNotification { try #require(scene.book.phone(phone.id)?.received.first) }
    let sent = try await send([
      "notification": ["title": "Common", "body": "For all"], "data": ["a": "1", "b": "2"],
      "apns": [
        "headers": ["apns-priority": "5", "apns-collapse-id": "k"],
        "payload": ["aps": ["badge": 3], "b": "own", "sbid": "p1"],
      ],
    ])
    #expect(sent.status == 200)
    let first = try newest()
    #expect(
      try JSONValue(parsing: Data(first.payload.utf8)) == [
        "aps": ["alert": ["title": "Common", "body": "For all"], "badge": 3], "a": "1", "b": "own", "sbid": "p1",
      ])
    #expect(first.pushType == .alert && first.priority == 5 && first.collapseID == "k" && first.uniqueID == "p1")
    #expect(first.apnsID == sent.json["name"]?.string && first.isShown && first.topic == "com.example.shop")
    try await send(["apns": ["payload": ["aps": ["content-available": 1]]]])
    #expect(try newest().pushType == .background)
    let wrong = try await send(["apns": ["headers": ["apns-topic": "com.example.shop.voip"]]])
    #expect(wrong.status == 400 && wrong.codes == ["DeviceTokenNotForTopic"])
    let call = try await send(["apns": ["headers": ["apns-push-type": "voip"], "payload": ["aps": [:]]]])
    #expect(call.status == 400 && call.codes == ["TopicDisallowed"])
    // Android's own part concerns Android.
    #expect(try await send(["android": ["restricted_package_name": "com.other"], "data": ["a": "b"]]).status == 200)
    try scene.book.setPower(phone.id, .off)
    let late = Int64(scene.now.timeIntervalSince1970) + 60
    try await send(["apns": ["headers": ["apns-expiration": .string("\(late)")], "payload": ["aps": ["alert": "x"]]]])
    #expect(scene.book.phone(phone.id)?.waiting.count == 1)
    try await send(["apns": ["headers": ["apns-expiration": "0"], "payload": ["aps": ["alert": "y"]]]])
    #expect(scene.book.phone(phone.id)?.waiting.first?.alert.body == "x", "one attempt at once, and nothing stored")
    try scene.book.setPower(phone.id, .on, now: scene.now)
    #expect(try newest().alert.body == "x")
    _ = scene.book.subscribe(phone.tokenText, to: "news", now: scene.now)
    #expect(scene.book.phone(phone.id)?.topics.keys.sorted() == ["news"])
    #expect(try await scene.send(["topic": "news", "notification": ["title": "News"]]).status == 200)
    #expect(try newest().alert.title == "News")
    let fresh = try scene.book.refreshToken(phone.id, now: scene.now)
    #expect(fresh.text != phone.tokenText && scene.book.phone(phone.id)?.provider == .fcm)
    #expect(try await send(["data": ["a": "b"]]).codes == ["UNREGISTERED"])
  }

  @Test("the legacy protocol reaches iPhones with its keys for iOS")
  func legacyIPhone() async throws {
    let scene = try await FCMScene()
    let phone = try scene.book.add(
      NewPhone(name: "Ada", platform: .ios, provider: .fcm, environment: .production, topic: "com.example.shop"))
    let sent = try await scene.legacy([
      "to": .string(phone.tokenText), "priority": "high", "collapse_key": "k", "mutable_content": true,
      "notification": ["title": "t", "body": "b", "subtitle": "s", "badge": "4", "click_action": "ORDER"],
      "data": ["n": 1],
    ])
    #expect(sent.json["success"] == 1)
    let notification = try #require(scene.book.phone(phone.id)?.received.first)
    #expect(
      try JSONValue(parsing: Data(notification.payload.utf8)) == [
        "aps": [
          "alert": ["title": "t", "body": "b", "subtitle": "s"], "badge": 4, "category": "ORDER", "mutable-content": 1,
        ], "n": "1",
      ])
    #expect(notification.priority == 10 && notification.collapseID == "k")
  }

  @Test("a token of nobody is UNREGISTERED, and what is no token INVALID_ARGUMENT")
  func tokens() async throws {
    let scene = try await FCMScene()
    let stranger = String(decoding: SimulatedPhone.newToken(.fcm).bytes, as: UTF8.self)
    let unknown = try await scene.send(["token": .string(stranger)])
    #expect(unknown.status == 404 && unknown.codes == ["UNREGISTERED"])
    let exact = """
      {"error":{"code":404,"details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError",\
      "errorCode":"UNREGISTERED"}],"message":"Requested entity was not found.","status":"NOT_FOUND"}}
      """
    #expect(String(decoding: unknown.body, as: UTF8.self) == exact)
    let malformed = try await scene.send(["token": "abc"])
    #expect(malformed.status == 400 && malformed.codes == ["INVALID_ARGUMENT"])
    #expect(
      malformed.json["error"]?["message"] == "The registration token is not a valid FCM registration token")
    let package = try await scene.send([
      "token": .string(scene.phone.tokenText), "android": ["restricted_package_name": "com.example.other"],
    ])
    #expect(package.status == 400 && package.fields == ["message.android.restricted_package_name"])
    #expect(try await scene.call("GET", "/v1/projects/p/messages:send").status == 404)
    #expect(try await scene.call("POST", "/v2/x").status == 404)
    let open = try await FCMScene { $0.phones = PhoneBook(acceptsUnknownTokens: true) }
    #expect(try await open.send(["token": .string(stranger)]).status == 200)
  }

  @Test("a simulated error has Google's body, Retry-After only with 429 and 503, and uses up its count")
  func faults() async throws {
    let scene = try await FCMScene()
    let box = scene.simulator.faults(.fcm)
    box.set(try Faults(parsing: "status=429,retry=30,next=1,reason=UNAVAILABLE,retry=5,next=1,status=500", for: .fcm))
    let quota = try await scene.notify("a")
    #expect(quota.status == 429 && quota.retryAfter == 30 && quota.codes == ["QUOTA_EXCEEDED"])
    #expect(quota.json["error"]?["details"]?.array?.count == 2 && quota.fields.isEmpty)
    #expect(quota.fields.isEmpty && quota.json["error"]?["status"] == "RESOURCE_EXHAUSTED")
    let busy = try await scene.notify("a")
    #expect(busy.status == 503 && busy.retryAfter == 5 && busy.codes == ["UNAVAILABLE"])
    for _ in 1...2 {
      let failed = try await scene.notify("a")
      #expect(failed.status == 500 && failed.retryAfter == nil && failed.codes == ["INTERNAL"])
    }
    for (text, status, code) in [
      ("reason=SENDER_ID_MISMATCH", 403, "SENDER_ID_MISMATCH"), ("status=404", 404, "UNREGISTERED"),
      ("reason=ACCESS_TOKEN_EXPIRED,next=1", 401, "ACCESS_TOKEN_EXPIRED"),
    ] {
      box.set(try Faults(parsing: text, for: .fcm))
      let reply = try await scene.notify("a")
      #expect(reply.status == status && reply.codes == [code], "\(text)")
    }
    box.set(try Faults(parsing: "reason=THIRD_PARTY_AUTH_ERROR", for: .fcm))
    let auth = try await scene.notify("a")
    #expect(auth.status == 401 && auth.codes == ["THIRD_PARTY_AUTH_ERROR", "InvalidProviderToken"])
    #expect(try await scene.signIn().status == 200, "faults concern messages only")
    box.set(try Faults(parsing: "reason=UNREGISTERED,token=\(scene.phone.tokenText)", for: .fcm))
    #expect(try await scene.notify("a").status == 404)
    let other = try scene.book.add(
      NewPhone(name: "Other", platform: .android, environment: .production, topic: "com.example.shop"))
    #expect(try await scene.send(["token": .string(other.tokenText)]).status == 200)
    #expect(try scene.titles() == [], "what was refused reached no phone")
    box.set(try Faults(parsing: "cut=1", for: .fcm))
    await #expect(throws: CancellationError.self) { try await scene.notify("a") }
    let counters = scene.simulator.counters(.fcm)
    #expect(counters.byReason["QUOTA_EXCEEDED"] == 1 && counters.byReason["INTERNAL"] == 2)
    #expect(counters.unanswered == 1)
  }

  @Test("faults that would harm clients, or that FCM does not have, are refused")
  func faultTexts() {
    #expect(throws: FaultsError.countNeeded(reason: "ACCESS_TOKEN_EXPIRED")) {
      try Faults(parsing: "reason=ACCESS_TOKEN_EXPIRED", for: .fcm)
    }
    #expect(throws: FaultsError.retryNotPossible) { try Faults(parsing: "status=500,retry=3", for: .fcm) }
    #expect(throws: FaultsError.retryNotPossible) { try Faults(parsing: "status=503,retry=3") }
    #expect(throws: FaultsError.statusNeeded(reason: "TooManyRequests")) {
      try Faults(parsing: "reason=TooManyRequests", for: .fcm)
    }
    #expect(throws: FaultsError.reasonNeeded(status: 502)) { try Faults(parsing: "status=502", for: .fcm) }
  }

  // MARK: Topics

  @Test("both topic interfaces change the same subscriptions, and messages to topics and conditions follow them")
  func topics() async throws {
    let scene = try await FCMScene()
    let token = scene.phone.tokenText.replacing(":", with: "%3A")
    let path = "/v1/projects/p/registrations/\(token)/topicSubscriptions"
    let added = try await scene.call("POST", path + "?topic_name=news", body: "{}")
    #expect(added.status == 200 && added.json["topic_name"] == "news")
    #expect(added.json["create_time"]?.string?.hasPrefix("2027-01-15T08:00:00") == true)
    #expect(try await scene.call("POST", path + "?topic_name=news", body: "{}").status == 409)
    #expect(try await scene.call("POST", path + "?topic_name=a%20b").fields == ["topic_name"])
    #expect(try await scene.call("GET", path + "/news").status == 200)
    #expect(try await scene.call("GET", path + "/sport").status == 404)
    #expect(try await scene.call("PATCH", path + "/sport").status == 404)
    #expect(try await scene.call("PATCH", path + "/sport?allow_missing=true").status == 200)
    #expect(try await scene.call("GET", path).json["topic_subscriptions"]?.array?.count == 2)
    let info = try await scene.call("GET", "/iid/info/\(token)?details=true")
    #expect(info.json["rel"]?["topics"]?.object?.keys.sorted() == ["news", "sport"])

    func batch(_ verb: String, _ topic: String, _ tokens: [String], key: String? = nil) async throws -> SimulatedReply {
      let body: JSONValue = ["to": .string(topic), "registration_tokens": .array(tokens.map { .string($0) })]
      return try await scene.call("POST", "/iid/v1:batch\(verb)", body: body.text(), authorization: key)
    }
    let good = scene.phone.tokenText
    let removed = try await batch("Remove", "/topics/sport", [good, "nonsense"])
    #expect(removed.json == ["results": [[:], ["error": "INVALID_ARGUMENT"]]])
    #expect(try await scene.call("GET", path + "/sport").status == 404)
    #expect(try await batch("Add", "sport", [good]).json == ["error": "InvalidTopic"])
    #expect(try await batch("Add", "/topics/beta", [good], key: "key=server").json == ["results": [[:]]])
    #expect(try await batch("Add", "/topics/beta", [good], key: "Bearer x").status == 401)
    #expect(try await scene.call("POST", "/iid/v1/\(token)/rel/topics/vip").json == [:])

    for (target, arrives) in [
      (["topic": "news"], true), (["topic": "sport"], false), (["condition": "'news' in topics"], true),
      (["condition": "'news' in topics && 'sport' in topics"], false),
      (["condition": "'sport' in topics || ('news' in topics && !('x' in topics))"], true),
    ] as [([String: JSONValue], Bool)] {
      try scene.book.clear(scene.phone.id)
      let message = target.merging(["notification": ["title": "t"]]) { $1 }
      #expect(try await scene.send(.object(message)).status == 200)
      #expect(try scene.titles() == (arrives ? ["t"] : []), "\(target)")
    }
    #expect(try await scene.call("DELETE", path + "/news").status == 200)
    #expect(try await scene.call("DELETE", path + "/news").status == 404)
    #expect(try await scene.call("DELETE", path + "/news?allow_missing=true").status == 200)
    #expect(try scene.current().topics.keys.sorted() == ["beta", "vip"])
    try scene.book.uninstall(scene.phone.id)
    #expect(try await scene.call("POST", path + "?topic_name=news").codes == ["UNREGISTERED"])
  }

  // MARK: The legacy protocol

  @Test("the legacy protocol answers in the order of the tokens, with its own words")
  func legacy() async throws {
    let scene = try await FCMScene()
    let good = JSONValue.string(scene.phone.tokenText)
    #expect(try await scene.legacy(["to": good], key: "Bearer x").status == 401)
    #expect(try await scene.legacy(["to": good], key: "key=").status == 401)
    #expect(try await scene.call("POST", "/fcm/send", body: "{", authorization: "key=a").status == 400)
    #expect(try await scene.legacy([:]).status == 400)
    #expect(try await scene.legacy(["to": good, "registration_ids": [good]]).status == 400)
    #expect(try await scene.legacy(["registration_ids": []]).status == 400)
    let stranger = String(decoding: SimulatedPhone.newToken(.fcm).bytes, as: UTF8.self)
    let many = try await scene.legacy([
      "registration_ids": [.string(stranger), good, "x", ""], "priority": "high", "time_to_live": 60,
      "notification": ["title": "legacy", "android_channel_id": "orders"], "data": ["count": 3],
    ])
    #expect(many.json["success"] == 1 && many.json["failure"] == 3)
    #expect((many.json["multicast_id"]?.integer ?? 0) > 0)
    let results = many.json["results"]?.array ?? []
    #expect(
      results.map { $0["error"]?.string }
        == ["NotRegistered", nil, "InvalidRegistration", "MissingRegistration"])
    let received = try #require(try scene.current().received.first)
    #expect(received.priority == 10 && received.androidNotification?.channel == "orders")
    #expect(received.json["data"] == ["count": "3"])
    #expect(received.expiration == scene.now + 60)
    for (change, word) in [
      (["time_to_live": -1], "InvalidTtl"), (["data": ["gcm.x": "y"]], "InvalidDataKey"),
      (["data": ["x": .string(String(repeating: "y", count: 4096))]], "MessageTooBig"),
      (["restricted_package_name": "a.b"], "InvalidPackageName"), (["priority": "urgent"], "InvalidParameters"),
      (["priority": 10], "InvalidParameters"), (["collapse_key": 5], "InvalidParameters"),
      (["dry_run": "yes"], "InvalidParameters"), (["content_available": 1], "InvalidParameters"),
      (["notification": "x"], "InvalidParameters"), (["data": ["x"]], "InvalidParameters"),
    ] as [([String: JSONValue], String)] {
      let reply = try await scene.legacy(.object(change.merging(["to": good]) { $1 }))
      #expect(reply.json["results"] == [["error": .string(word)]], "\(word)")
    }
    #expect((try await scene.legacy(["to": "/topics/news"]).json["message_id"]?.integer ?? 0) > 0)
    #expect(try await scene.legacy(["condition": "nonsense"]).json == ["error": "InvalidParameters"])
    let urgent = try await scene.legacy(["to": "/topics/news", "priority": "urgent"])
    #expect(urgent.json == ["error": "InvalidParameters"])
  }

  @Test("GCM's plain-text form is answered in lines, also with a replaced token and a simulated error")
  func plainText() async throws {
    let scene = try await FCMScene()
    func send(_ form: String) async throws -> SimulatedReply {
      let call = SimulatedCall(
        method: "POST", target: "/gcm/send", authorization: "key=a",
        contentType: "application/x-www-form-urlencoded;charset=UTF-8", body: Array(form.utf8))
      return try #require(try await scene.simulator.fcm.answer(call))
    }
    func text(_ reply: SimulatedReply) -> String { String(decoding: reply.body, as: UTF8.self) }
    let old = scene.phone.tokenText
    let sent = try await send("registration_id=\(old)&data.count=3&time_to_live=60&collapse_key=k")
    #expect(sent.status == 200 && sent.contentType.hasPrefix("text/plain") && text(sent).hasPrefix("id=0:"))
    let received = try #require(try scene.current().received.first)
    #expect(received.json["data"] == ["count": "3"] && received.expiration == scene.now + 60)
    #expect(text(try await send("data.a=b")) == "Error=MissingRegistration\n")
    let new = String(decoding: try scene.book.refreshToken(scene.phone.id).bytes, as: UTF8.self)
    #expect(text(try await send("registration_id=\(old)&data.a=b")).hasSuffix("\nregistration_id=\(new)\n"))
    scene.simulator.faults(.fcm).set(try Faults(parsing: "reason=UNREGISTERED,next=1", for: .fcm))
    #expect(text(try await send("registration_id=\(new)&data.a=b")) == "Error=NotRegistered\n")
  }

  @Test("a replaced token reaches the phone by the legacy protocol, with the new one in the answer")
  func canonical() async throws {
    let scene = try await FCMScene()
    let old = JSONValue.string(scene.phone.tokenText)
    let new = String(decoding: try scene.book.refreshToken(scene.phone.id).bytes, as: UTF8.self)
    let reply = try await scene.legacy(["to": old, "notification": ["title": "t"]])
    #expect(reply.json["canonical_ids"] == 1)
    #expect(reply.json["results"]?.array?.first?["registration_id"] == .string(new))
    #expect(try scene.titles() == ["t"])
    #expect(try await scene.send(["token": old]).codes == ["UNREGISTERED"])
  }

  @Test("simulated errors of tokens stand in the results of the legacy protocol, others are its status")
  func legacyFaults() async throws {
    let scene = try await FCMScene()
    let body: JSONValue = ["registration_ids": ["a", "b"]]
    scene.simulator.faults(.fcm).set(try Faults(parsing: "reason=UNREGISTERED,next=1,status=503,retry=7", for: .fcm))
    let results = try await scene.legacy(body)
    #expect(
      results.status == 200 && results.json["results"] == [["error": "NotRegistered"], ["error": "NotRegistered"]])
    let busy = try await scene.legacy(body)
    #expect(busy.status == 503 && busy.retryAfter == 7)
  }

  // MARK: The server

  @Test("over HTTP/2 with TLS, with the simulator's own authority")
  func server() async throws {
    try await SimulatorScene.run { scene in
      let phone = try scene.book.add(
        NewPhone(name: "Pixel", platform: .android, environment: .production, topic: SimulatorScene.topic))
      let endpoint = try #require(scene.simulator.endpoint(.fcm))
      let tls = try TLSContext.client(trust: endpoint.trust, alpn: ["h2"])
      let client = SimulatorClient(
        loop: scene.clientLoop, endpoint: .init(host: endpoint.host, port: endpoint.port, tls: tls),
        configuration: SimulatorClient.configuration(), resolver: scene.resolver, authorization: "Bearer x")
      // The client's path is APNs'; what counts is that FCM answers.
      #expect(try await client.send([phone.token]).count(404) == 1)
      try await client.stop()
      #expect(scene.simulator.counters(.fcm).byStatus == [404: 1])
      #expect(scene.simulator.counters(.fcm).connections == 1)
      #expect(SimulatedServer(.fcm, .development) == .fcm && SimulatedServer(.jpush, .production) == .jpush)
    }
  }
}
