import Foundation
import JSON
import Model
import Testing

@testable import Simulator

@Suite("Android phones")
struct AndroidPhoneTests {
  @Test("a token is shaped like FCM's, begins with the installation ID, and can be read back")
  func token() throws {
    let token = SimulatedPhone.newToken(.fcm)
    let text = String(decoding: token.bytes, as: UTF8.self)
    #expect(text.wholeMatch(of: #/[c-f][A-Za-z0-9_\-]{21}:APA91b[A-Za-z0-9_\-]{134}/#) != nil, "\(text)")
    #expect(try DeviceToken(parsing: text, platform: .android) == token)
    #expect(token.text == text)
  }

  struct Callback: Sendable, CustomTestStringConvertible {
    let state: SimulatedPhone.AppState
    let isData: Bool
    let arrival: AndroidCallbacks.Call?
    let tap: AndroidCallbacks.Call?
    var testDescription: String { "\(state), \(isData ? "data" : "notification")" }
  }

  @Test(
    "what the app is told, by its state and the kind of message (docs/protocols.md §5.1)",
    arguments: [
      Callback(state: .foreground, isData: false, arrival: .messageReceived, tap: nil),
      Callback(state: .background, isData: false, arrival: nil, tap: .newIntent),
      Callback(state: .notRunning, isData: false, arrival: nil, tap: .create),
      Callback(state: .foreground, isData: true, arrival: .messageReceived, tap: nil),
      Callback(state: .background, isData: true, arrival: .messageReceived, tap: nil),
      Callback(state: .notRunning, isData: true, arrival: .messageReceived, tap: nil),
    ])
  func callbacks(_ callback: Callback) async throws {
    let scene = try await FCMScene()
    try scene.book.setAppState(scene.phone.id, callback.state)
    if callback.isData {
      try await scene.send(["token": .string(scene.phone.tokenText), "data": ["a": "b"]])
    } else {
      try await scene.notify("t")
    }
    let received = try #require(try scene.current().received.first)
    #expect(received.androidCallbacks.arrival == callback.arrival)
    #expect(received.androidCallbacks.tap == callback.tap)
    #expect(received.isShown == (callback.tap != nil))
  }

  @Test(
    "what JPush's library tells the app (docs/protocols.md §5.1)",
    arguments: [
      Callback(state: .foreground, isData: false, arrival: .notificationArrived, tap: nil),
      Callback(state: .background, isData: false, arrival: .notificationArrived, tap: .notificationOpened),
      Callback(state: .notRunning, isData: false, arrival: nil, tap: .notificationOpened),
      Callback(state: .background, isData: true, arrival: .message, tap: nil),
    ])
  func jpushCallbacks(_ callback: Callback) {
    let received = ReceivedNotification(
      id: 1, apnsID: "1", topic: "com.example.shop", pushType: nil, priority: 10,
      payload: callback.isData ? #"{"data":{"a":"b"}}"# : #"{"notification":{"title":"t"}}"#, receivedAt: Date(),
      appState: callback.state)
    #expect(received.jpushCallbacks.arrival == callback.arrival)
    #expect(received.jpushCallbacks.tap == callback.tap)
  }

  @Test("a dozing phone gets high priority at once, and normal priority when it wakes up")
  func doze() async throws {
    let scene = try await FCMScene()
    try scene.book.setDozing(scene.phone.id, true)
    try await scene.notify("normal")
    try await scene.notify("never", ttl: "0s")
    try await scene.notify("short", ttl: "10s")
    try await scene.notify("high", high: true)
    #expect(try scene.titles() == ["high"])
    #expect(try scene.current().waiting.count == 2)
    scene.pass(11)
    try scene.book.setDozing(scene.phone.id, false, now: scene.now)
    #expect(Set(try scene.titles()) == ["normal", "high"])
    #expect(try scene.current().waiting.isEmpty)
    try scene.book.setAppState(scene.phone.id, .foreground)
    try scene.book.setDozing(scene.phone.id, true)
    #expect(try scene.current().appState == .background, "a phone in use does not doze")
    try scene.book.setAppState(scene.phone.id, .foreground)
    #expect(try scene.current().android?.isDozing == false)
  }

  @Test("a phone that is off gets what waits when it is switched on, unless its time to live is over or 0")
  func off() async throws {
    let scene = try await FCMScene()
    try scene.book.setPower(scene.phone.id, .off)
    try await scene.notify("never", high: true, ttl: "0s")
    try await scene.notify("short", high: true, ttl: "5s")
    try await scene.notify("long", high: true)
    scene.pass(6)
    try scene.book.setPower(scene.phone.id, .on, now: scene.now)
    #expect(try scene.titles() == ["long"])
    let received = try #require(try scene.current().received.first)
    #expect(received.appState == .notRunning && received.receivedAt == scene.now)
  }

  @Test("a collapse key replaces what waits, at most four keys do, and beyond 100 messages all are lost")
  func waiting() async throws {
    let scene = try await FCMScene()
    try scene.book.setPower(scene.phone.id, .off)
    for title in ["1", "2"] { try await scene.notify(title, collapseKey: "k") }
    #expect(try scene.current().waiting.compactMap(\.alert.title) == ["2"])
    for key in ["l", "m", "n", "o"] { try await scene.notify(key, collapseKey: key) }
    #expect(try scene.current().waiting.compactMap(\.alert.title) == ["l", "m", "n", "o"])
    for number in 1...97 { try await scene.notify("\(number)") }
    let phone = try scene.current()
    #expect(phone.waiting.compactMap(\.alert.title) == ["97"] && phone.android?.hasLostMessages == true)
  }

  @Test("a tag replaces the notification in the shade; a collapse key does not")
  func tags() async throws {
    let scene = try await FCMScene()
    for title in ["1", "2"] { try await scene.notify(title, tag: "score") }
    for title in ["3", "4"] { try await scene.notify(title, collapseKey: "k") }
    #expect(try scene.titles() == ["4", "3", "2"])
    #expect(try scene.current().received.last?.replaced == 1)
  }

  @Test("in a channel that is off a notification arrives, and is not shown")
  func channels() async throws {
    let scene = try await FCMScene()
    try scene.book.setMutedChannels(scene.phone.id, ["ads", AndroidNotification.defaultChannel])
    try await scene.notify("ad", channel: "ads")
    try await scene.notify("order", channel: "orders")
    try await scene.notify("other")
    let received = try scene.current().received
    #expect(received.map(\.isShown) == [false, true, false])
    #expect(received.map(\.isMuted) == [true, false, true])
    #expect(received.first?.androidCallbacks.tap == nil)
  }

  @Test("with notifications off FCM answers as before, no notification is shown, and the app gets data messages")
  func notificationsOff() async throws {
    let scene = try await FCMScene()
    try scene.book.setNotifications(scene.phone.id, .off)
    func arrive(data: Bool = false) async throws -> ReceivedNotification {
      let token = JSONValue.string(scene.phone.tokenText)
      let reply = try await scene.send(
        data ? ["token": token, "data": ["a": "b"]] : ["token": token, "notification": ["title": "t"]])
      #expect(reply.status == 200)
      let received = try #require(try scene.current().received.first)
      #expect(try JSONValue(parsing: reply.body)["name"]?.string == received.apnsID)
      return received
    }
    let hidden = try await arrive()
    #expect(!hidden.isShown)
    #expect(hidden.androidCallbacks.arrival == nil && hidden.androidCallbacks.tap == nil)
    let data = try await arrive(data: true)
    #expect(data.androidCallbacks.arrival == .messageReceived)
    try scene.book.setAppState(scene.phone.id, .foreground)
    let open = try await arrive()
    #expect(open.androidCallbacks.arrival == .messageReceived && !open.isShown)
  }

  @Test("a removed app is unregistered, a new installation has other IDs, a refresh keeps the installation ID")
  func tokens() async throws {
    let scene = try await FCMScene()
    func code(_ target: String, _ text: String) async throws -> [String] {
      try await scene.send([target: .string(text), "data": ["a": "b"]]).codes
    }
    let (first, id) = (scene.phone.tokenText, scene.phone.installationID ?? "")
    try scene.book.refreshToken(scene.phone.id)
    #expect(try scene.current().installationID == id)
    #expect(try await code("token", first) == ["UNREGISTERED"])
    #expect(try await code("fid", id) == [])
    #expect(try await code("token", try scene.current().tokenText) == [])
    try scene.book.uninstall(scene.phone.id)
    #expect(try await code("token", try scene.current().tokenText) == ["UNREGISTERED"])
    #expect(try await code("fid", id) == ["UNREGISTERED"])
    try scene.book.reinstall(scene.phone.id)
    #expect(try scene.current().installationID != id)
    #expect(try await code("fid", id) == ["UNREGISTERED"])
    #expect(try await code("token", try scene.current().tokenText) == [])
  }

  @Test("an iPhone has neither doze nor channels")
  func iPhone() throws {
    let scene = try PhoneScene()
    for body in [
      { try scene.book.setDozing(scene.phone.id, true) }, { try scene.book.setMutedChannels(scene.phone.id, ["a"]) },
    ] as [() throws -> SimulatedPhone] {
      #expect(throws: PhoneBookError.notAndroid(phone: "Ada’s iPhone")) { try body() }
    }
    #expect(throws: PhoneBookError.notAndroid(phone: "Ada’s iPhone")) { try scene.book.refreshToken(scene.phone.id) }
    #expect(try scene.current().android == nil)
  }

  @Test("what an Android phone is and got is stored, and read back")
  func storage() async throws {
    let storage = TestStorage()
    let book = try await PhoneBook.open(storage)
    let scene = try await FCMScene { $0.phones = book }
    let token = scene.phone.tokenText
    try scene.book.setMutedChannels(scene.phone.id, ["ads"])
    try await scene.notify("ad", channel: "ads")
    try await scene.notify("tagged", tag: "t")
    try scene.book.setNotifications(scene.phone.id, .off)
    try await scene.notify("denied")
    #expect(book.subscriptions(of: token) == .success([:]))
    _ = book.subscribe(token, to: "news", now: scene.now)
    try scene.book.refreshToken(scene.phone.id, now: scene.now)
    try scene.book.setDozing(scene.phone.id, true)
    try await scene.notify("waits")
    try await book.flush()
    let kept = try #require(try await storage.load().first)
    let phone = try scene.current()
    let copy = try SimulatedPhone(
      id: kept.id, name: kept.name, platform: kept.platform, environment: kept.environment, topic: kept.topic,
      token: kept.token, keptState: JSONValue(parsing: Data(kept.keptState.data())),
      received: kept.received.map {
        try ReceivedNotification(
          id: $0.id, apnsID: $0.apnsID, payload: $0.payload, receivedAt: $0.receivedAt, keptFields: $0.keptFields)
      })
    #expect(copy == phone)
    #expect(copy.notifications == .off && copy.received.map(\.isDenied) == [true, false, false])
    let again = try await PhoneBook.open(storage)
    #expect(again.subscriptions(of: token) == .failure(.unregistered))
    #expect(again.phone(registered: phone.installationID ?? "")?.id == phone.id)
  }
}
