import Foundation
import JSON
import Model
import Testing

@testable import Simulator

@Suite("Phone book")
struct PhoneBookTests {
  @Test("a push arrives with everything that was said of it")
  func arrival() throws {
    let scene = try PhoneScene()
    try scene.book.setAppState(scene.phone.id, .foreground)
    let push = PhoneScene.push(
      scene.phone.token, id: "A", topic: "com.example.shop.voip", expiration: PhoneScene.time(60), collapseID: "c",
      uniqueID: "p1")
    #expect(scene.deliver(push) == nil)
    let received = try scene.current().received
    #expect(received.count == 1)
    let notification = try #require(received.first)
    #expect(notification.apnsID == "A")
    #expect(notification.topic == "com.example.shop.voip")
    #expect(notification.payload == #"{"aps":{"alert":"Hello"}}"#)
    #expect(notification.receivedAt == PhoneScene.now)
    #expect(notification.expiration == PhoneScene.time(60))
    #expect(notification.collapseID == "c")
    #expect(notification.uniqueID == "p1")
    #expect(notification.appState == .foreground)
    #expect(notification.tapped == nil)
    #expect(try notification.callbacks(backgroundMode: false).arrival.map(\.method) == [.present])
    // Another app state, another row of the table.
    try scene.book.setAppState(scene.phone.id, .background)
    try scene.send(id: "B")
    let later = try #require(try scene.current().received.first)
    #expect(try later.callbacks(backgroundMode: false).tap.map(\.method) == [.respond])
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var environment = Model.Environment.development
    var topic = PhoneScene.topic
    var known = true
    let status: Int
    let reason: String
  }

  @Test(
    "refusals, as APNs words them",
    arguments: [
      Refusal(testDescription: "unknown token", known: false, status: 400, reason: "BadDeviceToken"),
      Refusal(
        testDescription: "other environment", environment: .production, status: 400, reason: "BadDeviceToken"),
      Refusal(
        testDescription: "other app", topic: "com.example.bank", status: 400, reason: "DeviceTokenNotForTopic"),
      Refusal(
        testDescription: "app whose name goes on", topic: "com.example.shopping", status: 400,
        reason: "DeviceTokenNotForTopic"),
      Refusal(
        testDescription: "the other environment is told before the app", environment: .production,
        topic: "com.example.bank", status: 400, reason: "BadDeviceToken"),
    ])
  func refusals(_ refusal: Refusal) throws {
    let scene = try PhoneScene()
    let token = refusal.known ? scene.phone.token : SimulatedPhone.newToken(.apns)
    let answer = scene.deliver(PhoneScene.push(token, id: "A", topic: refusal.topic), refusal.environment)
    #expect(answer == APNsRejection(refusal.reason, status: refusal.status, apnsID: "A"))
    #expect(try scene.current().received.isEmpty)
  }

  @Test("a book that accepts unknown tokens keeps nothing of them")
  func unknownTokens() throws {
    let scene = try PhoneScene(PhoneBook(acceptsUnknownTokens: true))
    #expect(scene.deliver(PhoneScene.push(SimulatedPhone.newToken(.apns))) == nil)
    #expect(scene.deliver(PhoneScene.push(SimulatedPhone.newToken(.apns)), .production) == nil)
    // What is known is not taken for unknown.
    #expect(scene.deliver(PhoneScene.push(scene.phone.token), .production)?.reason == "BadDeviceToken")
    #expect(scene.book.phones().map(\.received.count) == [0])
  }

  @Test("uninstall: 410 with the time; reinstall: another token, and the old one stays invalid")
  func uninstall() throws {
    let scene = try PhoneScene()
    try scene.send(text: "before")
    try scene.book.uninstall(scene.phone.id, now: PhoneScene.time(10))
    let answer = try scene.send(id: "A", at: PhoneScene.time(20))
    let gone = APNsRejection("Unregistered", status: 410, apnsID: "A", timestamp: PhoneScene.time(10))
    #expect(answer == gone)
    #expect(throws: PhoneBookError.appNotInstalled(phone: "Ada’s iPhone")) {
      try scene.book.uninstall(scene.phone.id)
    }
    #expect(throws: PhoneBookError.appNotInstalled(phone: "Ada’s iPhone")) {
      try scene.book.setAppState(scene.phone.id, .foreground)
    }
    let token = try scene.book.reinstall(scene.phone.id, now: PhoneScene.time(30))
    #expect(token != scene.phone.token)
    #expect(token.bytes.count == 32)
    #expect(scene.book.phones(token: token).map(\.id) == [scene.phone.id])
    #expect(scene.book.phones(token: scene.phone.token) == [])
    #expect(try scene.current().state == .installed)
    #expect(try scene.send(text: "after", at: PhoneScene.time(40)) == nil)
    #expect(scene.deliver(PhoneScene.push(scene.phone.token, id: "A"), at: PhoneScene.time(50)) == gone)
    // In the wrong environment even a dead token is just a bad one.
    #expect(scene.deliver(PhoneScene.push(scene.phone.token), .production)?.reason == "BadDeviceToken")
    #expect(try scene.texts() == ["after", "before"])
  }

  @Test("one token may be a phone's in each environment, and each gets its own pushes")
  func bothEnvironments() throws {
    let scene = try PhoneScene(PhoneBook(acceptsUnknownTokens: true))
    let token = scene.phone.token
    #expect(
      scene.deliver(PhoneScene.push(token), .production)?.reason == "BadDeviceToken", "it is not unknown, but elsewhere"
    )
    let other = try scene.book.add(
      NewPhone(name: "Other", environment: .production, topic: PhoneScene.topic, token: token))
    #expect(throws: PhoneBookError.tokenTaken(phone: "Other")) {
      try scene.book.add(NewPhone(name: "Third", environment: .production, topic: PhoneScene.topic, token: token))
    }
    #expect(scene.deliver(PhoneScene.push(token, text: "one")) == nil)
    #expect(scene.deliver(PhoneScene.push(token, text: "two"), .production) == nil)
    #expect(try scene.texts() == ["one"])
    #expect(scene.book.phone(other.id)?.received.count == 1)
    try scene.book.uninstall(other.id)
    #expect(scene.deliver(PhoneScene.push(token), .production)?.reason == "Unregistered")
    #expect(scene.deliver(PhoneScene.push(token)) == nil)
    try scene.book.remove(other.id)
    #expect(scene.book.phones(token: token).map(\.id) == [scene.phone.id])
  }

  @Test("installed over itself: the old token is dead as of then; the oldest are forgotten")
  func reinstall() throws {
    let scene = try PhoneScene()
    try scene.book.reinstall(scene.phone.id, now: PhoneScene.time(5))
    #expect(scene.deliver(PhoneScene.push(scene.phone.token))?.timestamp == PhoneScene.time(5))
    for _ in 0..<SimulatedPhone.formerTokenLimit { try scene.book.reinstall(scene.phone.id) }
    #expect(try scene.current().formerTokens.count == SimulatedPhone.formerTokenLimit)
    #expect(scene.deliver(PhoneScene.push(scene.phone.token))?.reason == "BadDeviceToken")
  }

  @Test("off: the newest of each topic waits, once-only ones are lost, and expired ones never arrive")
  func power() throws {
    let scene = try PhoneScene()
    let off = try scene.book.setPower(scene.phone.id, .off)
    #expect(off.appState == .notRunning)
    #expect(throws: PhoneBookError.phoneIsOff(phone: "Ada’s iPhone")) {
      try scene.book.setAppState(scene.phone.id, .foreground)
    }
    try scene.send(text: "first")
    try scene.send(collapseID: "other", text: "second")
    try scene.send(topic: "com.example.shop.voip", expiration: PhoneScene.time(50), text: "call")
    try scene.send(expiration: Date(timeIntervalSince1970: 0), text: "once")
    #expect(try scene.current().waiting.count == 2)
    #expect(try scene.texts().isEmpty)
    try scene.book.setPower(scene.phone.id, .on, now: PhoneScene.time(60))
    #expect(try scene.texts() == ["second"])
    let received = try #require(try scene.current().received.first)
    #expect(received.receivedAt == PhoneScene.time(60))
    #expect(received.appState == .notRunning)
    #expect(try scene.current().waiting.isEmpty)
    // On already: nothing comes twice.
    try scene.book.setPower(scene.phone.id, .on)
    #expect(try scene.texts() == ["second"])
  }

  @Test("APNs gives up after 30 days, and when the app is removed")
  func givingUp() throws {
    let scene = try PhoneScene()
    try scene.book.setPower(scene.phone.id, .off)
    try scene.send()
    try scene.book.setPower(scene.phone.id, .on, now: PhoneScene.time(30 * 86_400))
    #expect(try scene.texts().isEmpty)
    try scene.book.setPower(scene.phone.id, .off)
    try scene.send()
    try scene.book.uninstall(scene.phone.id)
    try scene.book.setPower(scene.phone.id, .on, now: PhoneScene.time(1))
    #expect(try scene.texts().isEmpty)
  }

  @Test("on: a once-only push is tried at once, an expired one is not")
  func expiration() throws {
    let scene = try PhoneScene()
    #expect(try scene.send(expiration: Date(timeIntervalSince1970: 0), text: "once") == nil)
    #expect(try scene.send(expiration: PhoneScene.time(0), text: "over") == nil)
    #expect(try scene.send(expiration: PhoneScene.time(1), text: "in time") == nil)
    #expect(try scene.texts() == ["in time", "once"])
  }

  @Test("the same collapse id takes the place of the one before, also of one topic only")
  func collapse() throws {
    let scene = try PhoneScene()
    try scene.send(collapseID: "score", text: "1:0")
    try scene.send(text: "other")
    try scene.send(collapseID: "score", text: "2:0")
    try scene.send(topic: "com.example.shop.voip", collapseID: "score", text: "call")
    try scene.send(collapseID: "score", text: "3:0")
    #expect(try scene.texts() == ["3:0", "call", "other"])
    #expect(try scene.current().received.map(\.replaced) == [2, 0, 0])
  }

  @Test("the same apns-id again is counted, not shown twice")
  func duplicates() throws {
    let scene = try PhoneScene()
    for _ in 0..<3 { try scene.send(id: "A") }
    try scene.send(id: "B")
    #expect(try scene.current().received.map(\.duplicates) == [0, 2])
  }

  @Test("the newest 200 stay, in order, however many come", arguments: [199, 200, 201, 400, 401, 1000])
  func bounded(_ count: Int) throws {
    let scene = try PhoneScene()
    for number in 0..<count { try scene.send(id: "\(number)", text: "\(number)") }
    let kept = min(count, 200)
    #expect(try scene.texts() == (count - kept..<count).reversed().map(String.init))
    // An id that was pushed out is not known any more.
    try scene.send(id: "0")
    let repeated = try scene.current().received.filter { $0.duplicates > 0 }.map(\.apnsID)
    #expect(repeated == (count <= 200 ? ["0"] : []))
  }

  @Test("tap: the app comes to the foreground; a deleted notification cannot be tapped")
  func tap() throws {
    let scene = try PhoneScene()
    try scene.send(text: "one")
    try scene.send(text: "two")
    let id = try #require(try scene.current().received.last?.id)
    let tapped = try scene.book.tap(scene.phone.id, id, now: PhoneScene.time(3))
    #expect(tapped.tapped == PhoneScene.time(3))
    #expect(try scene.current().received.map(\.tapped) == [nil, PhoneScene.time(3)])
    #expect(try scene.current().appState == .foreground)
    try scene.book.clear(scene.phone.id)
    #expect(try scene.current().received.isEmpty)
    #expect(throws: PhoneBookError.noSuchNotification(id)) { try scene.book.tap(scene.phone.id, id) }
    #expect(throws: PhoneBookError.noSuchPhone(99)) { try scene.book.tap(99, id) }
  }

  @Test(
    "a push type with tokens of its own takes no other token, and its token nothing else", arguments: PushType.allCases)
  func ownTokens(type: PushType) throws {
    for acceptsUnknown in [false, true] {
      let scene = try PhoneScene(PhoneBook(acceptsUnknownTokens: acceptsUnknown))
      let topic = PhoneScene.topic + (type == .mdm ? "" : type.topicSuffix)
      func push(_ token: DeviceToken, _ type: PushType, _ topic: String) -> APNsRejection? {
        var push = PhoneScene.push(token, topic: topic)
        push.pushType = type
        return scene.deliver(push)
      }
      let own = SimulatedPhone.token(scene.phone.token, for: type)
      #expect(push(own, type, topic) == nil)
      #expect(try scene.current().received.count == 1)
      guard SimulatedPhone.ownTokenTypes.contains(type) else {
        #expect(own == scene.phone.token)
        continue
      }
      #expect(try scene.current().ownTokens[type] == own && own != scene.phone.token)
      #expect(SimulatedPhone.token(own, for: type) == scene.phone.token)
      #expect(push(scene.phone.token, type, topic)?.reason == "DeviceTokenNotForTopic")
      #expect(push(own, .alert, PhoneScene.topic)?.reason == "DeviceTokenNotForTopic")
      #expect(try scene.current().received.count == 1)
      try scene.book.uninstall(scene.phone.id)
      #expect(push(own, type, topic)?.reason == "Unregistered")
    }
  }

  @Test("with notifications off a push is accepted and not shown, and the app gets only what needs no permission")
  func notificationsOff() throws {
    let scene = try PhoneScene()
    try scene.book.setNotifications(scene.phone.id, .off)
    func arrive(
      _ aps: JSONValue, _ type: PushType = .alert, in state: SimulatedPhone.AppState = .background
    ) throws -> ReceivedNotification {
      try scene.book.setAppState(scene.phone.id, state)
      let payload: JSONValue = ["aps": aps]
      let push = AcceptedPush(
        token: SimulatedPhone.token(scene.phone.token, for: type), apnsID: UUID().uuidString, topic: PhoneScene.topic,
        pushType: type, priority: 10,
        expiration: nil, collapseID: nil, payload: payload, rawPayload: Array(payload.data()), uniqueID: nil,
        usedProviderToken: true)
      #expect(scene.deliver(push) == nil)
      return try #require(try scene.current().received.first)
    }
    func calls(_ notification: ReceivedNotification) throws -> [CallbackTable.Method] {
      let cell = try notification.callbacks(backgroundMode: true)
      return (cell.arrival + cell.tap).map(\.method)
    }
    for state in SimulatedPhone.AppState.allCases {
      let alert = try arrive(["alert": "Hi", "badge": 1, "sound": "default"], in: state)
      #expect(!alert.isShown)
      #expect(try calls(alert).isEmpty, "\(state)")
    }
    for state in [SimulatedPhone.AppState.foreground, .background] {
      let mixed = try arrive(["alert": "Hi", "content-available": 1], in: state)
      #expect(!mixed.isShown)
      #expect(try calls(mixed) == [.fetch], "\(state)")
      let silent = try arrive(["content-available": 1], .background, in: state)
      #expect(try calls(silent) == [.fetch], "\(state)")
    }
    let activity = try arrive(["event": "start", "content-state": ["score": "0:0"]], .liveactivity)
    #expect(activity.isShown, "Live Activities have a permission of their own")
    try scene.book.setNotifications(scene.phone.id, .allowed)
    #expect(try arrive(["alert": "Hi"]).isShown)
    #expect(try scene.current().received.filter(\.isShown).count == 2, "what arrived before is not shown later")
    try scene.book.setNotifications(scene.phone.id, .off)
    try scene.book.uninstall(scene.phone.id)
    #expect(throws: PhoneBookError.appNotInstalled(phone: "Ada’s iPhone")) {
      try scene.book.setNotifications(scene.phone.id, .off)
    }
    try scene.book.reinstall(scene.phone.id)
    #expect(try scene.current().notifications == .allowed, "the new installation asks again")
  }

  @Test("a token has one phone in an environment; a removed phone's tokens are unknown, and its id is not used again")
  func addAndRemove() throws {
    let scene = try PhoneScene()
    #expect(throws: PhoneBookError.tokenTaken(phone: "Ada’s iPhone")) {
      try scene.book.add(
        NewPhone(name: "Copy", environment: .development, topic: PhoneScene.topic, token: scene.phone.token))
    }
    try scene.book.reinstall(scene.phone.id)
    let token = try scene.current().token
    try scene.book.remove(scene.phone.id)
    #expect(throws: PhoneBookError.noSuchPhone(scene.phone.id)) { try scene.book.remove(scene.phone.id) }
    for token in [token, scene.phone.token] {
      #expect(scene.deliver(PhoneScene.push(token))?.reason == "BadDeviceToken")
    }
    let next = try scene.book.add(
      NewPhone(name: "Next", environment: .production, topic: PhoneScene.topic, token: token))
    #expect(next.id == scene.phone.id + 1)
    #expect(scene.book.phones().map(\.name) == ["Next"])
  }

  @Test("changes come in order, to every reader, and a slow one loses the oldest")
  func changes() async throws {
    let scene = try PhoneScene()
    let (one, other) = (scene.book.changes(), scene.book.changes())
    try scene.send(id: "A")
    try scene.send(id: "A")
    try scene.book.setPower(scene.phone.id, .off)
    try scene.send(id: "B")
    try scene.book.clear(scene.phone.id)
    try scene.book.remove(scene.phone.id)
    for stream in [one, other] {
      var seen: [String] = []
      for await change in stream {
        #expect(change.phoneID == scene.phone.id)
        switch change {
        case .added: seen.append("added")
        case .changed(let phone): seen.append("changed \(phone.power)")
        case .received(_, let notification): seen.append("received \(notification.apnsID)")
        case .updated(_, let notification): seen.append("updated \(notification.duplicates)")
        case .waits(_, let notification): seen.append("waits \(notification.apnsID)")
        case .cleared: seen.append("cleared")
        case .removed: seen.append("removed")
        }
        if case .removed = change { break }
      }
      #expect(seen == ["received A", "updated 1", "changed off", "waits B", "cleared", "removed"])
    }
    let slow = scene.book.changes()
    for number in 0..<PhoneBook.changeLimit + 5 {
      try scene.book.add(
        NewPhone(name: "\(number)", environment: .development, topic: PhoneScene.topic))
    }
    var iterator = slow.makeAsyncIterator()
    guard case .added(let phone)? = await iterator.next() else {
      Issue.record("The oldest change that is left is not an added phone")
      return
    }
    #expect(phone.name == "5")
  }

  @Test("100 000 deliveries to 1000 phones: each phone has its newest 200")
  func many() throws {
    let book = PhoneBook()
    let tokens = try (0..<1000).map {
      try book.add(NewPhone(name: "\($0)", environment: .production, topic: PhoneScene.topic)).token
    }
    let pushes = (0..<100_000).map { PhoneScene.push(tokens[$0 % 1000], id: "\($0)") }
    let clock = ContinuousClock()
    let time = clock.measure {
      for push in pushes { _ = book.deliver(push, environment: .production, now: PhoneScene.now) }
    }
    #expect(book.phones().allSatisfy { $0.received.count == 100 })
    #expect(book.phone(1)?.received.first?.apnsID == "99000")
    // Not a measurement: without optimisation, on a busy machine. It finds what grows with the number of pushes.
    #expect(time < .seconds(30))
  }
}
