import Foundation
import JSON
import Logging
import Model
import Synchronization
import TestSupport
import Testing

@testable import Simulator

@Suite("Kept phones")
struct PhoneStorageTests {
  @Test("a reopened book contains everything that was stored")
  func roundTrip() async throws {
    let storage = TestStorage()
    let scene = try PhoneScene(try await PhoneBook.open(storage))
    let other = try scene.book.add(NewPhone(name: "Other", environment: .production, topic: PhoneScene.topic))
    let removed = try scene.book.add(NewPhone(name: "Gone", environment: .production, topic: PhoneScene.topic))
    for number in 0..<250 { try scene.send(id: "\(number)", text: "\(number)") }
    try await scene.book.flush()
    try scene.send(id: "249")
    try scene.send(collapseID: "c", text: "old")
    try await scene.book.flush()
    try scene.send(collapseID: "c", text: "new")
    try scene.book.tap(scene.phone.id, try #require(try scene.current().received.first?.id))
    try scene.book.reinstall(scene.phone.id, now: PhoneScene.now)
    try scene.book.setPower(scene.phone.id, .off)
    try scene.send(id: "waits")
    try scene.book.uninstall(other.id, now: PhoneScene.now)
    try scene.book.remove(removed.id)
    try await scene.book.flush()

    let opened = try await PhoneBook.open(storage)
    #expect(opened.phones() == scene.book.phones())
    #expect(opened.phones().first?.received.count == 200)
    #expect(storage.state.withLock { $0.notifications[scene.phone.id]?.count } == 200)
    // Ids go on; tokens old and new are known.
    let next = try opened.add(NewPhone(name: "Next", environment: .production, topic: PhoneScene.topic))
    #expect(next.id > other.id)
    let dead = opened.deliver(PhoneScene.push(scene.phone.token), environment: .development, now: PhoneScene.now)
    #expect(throws: APNsRejection.self) { try dead.get() }
    try opened.setPower(scene.phone.id, .on, now: PhoneScene.time(1))
    #expect(opened.phone(scene.phone.id)?.received.first?.apnsID == "waits")
    try await opened.flush()
    let third = try await PhoneBook.open(storage)
    #expect(third.phones() == opened.phones())
  }

  @Test("phones and notifications as JSON, and back")
  func json() throws {
    let scene = try PhoneScene()
    try scene.send(id: "A", expiration: PhoneScene.time(9.5), collapseID: "c")
    try scene.send(id: "A")
    try scene.send(id: "B", collapseID: "c")
    try scene.book.tap(scene.phone.id, try #require(try scene.current().received.first?.id), now: PhoneScene.now)
    try scene.book.reinstall(scene.phone.id, now: PhoneScene.time(0.25))
    try scene.book.setPower(scene.phone.id, .off)
    try scene.send(id: "C", expiration: PhoneScene.time(60))
    let uninstalled = try scene.book.add(
      NewPhone(
        name: "B", environment: .production, topic: PhoneScene.topic, registrationID: "r1", alias: "usr_ada"))
    try scene.book.uninstall(uninstalled.id, now: PhoneScene.time(1.125))
    for phone in scene.book.phones() {
      let received = try phone.received.map { one in
        let fields = try JSONValue(parsing: one.keptFields.data())
        return try ReceivedNotification(
          id: one.id, apnsID: one.apnsID, payload: one.payload, receivedAt: one.receivedAt, keptFields: fields)
      }
      let again = try SimulatedPhone(
        id: phone.id, name: phone.name, platform: phone.platform, environment: phone.environment, topic: phone.topic,
        token: phone.token, keptState: try JSONValue(parsing: phone.keptState.data()), received: received)
      #expect(again == phone)
    }
    let strange: [JSONValue] = [.null, [:], ["model": "x", "app_state": "flying", "power": "on"]]
    for state in strange {
      #expect(throws: KeptPhoneError(id: 7)) {
        try SimulatedPhone(
          id: 7, name: "", platform: .ios, environment: .production, topic: "", token: scene.phone.token,
          keptState: state, received: [])
      }
      #expect(throws: KeptPhoneError(id: 8)) {
        try ReceivedNotification(id: 8, apnsID: "", payload: "", receivedAt: PhoneScene.now, keptFields: state)
      }
    }
  }

  @Test("many changes are few calls")
  func batches() async throws {
    let storage = TestStorage()
    let scene = try PhoneScene(try await PhoneBook.open(storage))
    for number in 0..<5000 { try scene.send(id: "\(number)") }
    try await scene.book.flush()
    #expect(storage.state.withLock { $0.notifications[scene.phone.id]?.count } == 200)
    #expect(storage.state.withLock { $0.calls } < 5000)
  }

  @Test("storage that fails: it is said, nothing is lost, and the next change tries again")
  func failure() async throws {
    let storage = TestStorage()
    let sink = MemorySink()
    let book = try await PhoneBook.open(storage, log: Logger(label: "Simulator", sink: sink))
    storage.state.withLock { $0.isFailing = true }
    let scene = try PhoneScene(book)
    let gone = try book.add(NewPhone(name: "Gone", environment: .production, topic: PhoneScene.topic))
    try scene.send(id: "A")
    await #expect(throws: TestStorage.Failure.self) { try await book.flush() }
    try book.remove(gone.id)
    try scene.send(id: "B")
    await #expect(throws: TestStorage.Failure.self) { try await book.flush() }
    #expect(sink.entries.contains { $0.level == .error })
    storage.state.withLock { $0.isFailing = false }
    try await book.flush()
    #expect(try await PhoneBook.open(storage).phones() == book.phones())
    #expect(book.phones().map(\.received.count) == [2])
  }

  @Test("broadcast channels and their subscribers are kept, but not those of a phone that is gone")
  func channels() async throws {
    let storage = TestStorage()
    let scene = try PhoneScene(try await PhoneBook.open(storage))
    let gone = try scene.book.add(NewPhone(name: "Gone", environment: .development, topic: PhoneScene.topic))
    let channels = ChannelBook(scene.book)
    let id = try channels.create(.storesLatest, app: PhoneScene.topic, .development)
    let deleted = try channels.create(.storesNothing, app: PhoneScene.topic, .development)
    for phone in [scene.phone, gone] { try channels.subscribe(phone, to: id) }
    channels.accept(id, app: PhoneScene.topic, .development)
    try await scene.book.flush()
    storage.state.withLock { $0.isFailing = true }
    try channels.delete(deleted, app: PhoneScene.topic, .development)
    await #expect(throws: TestStorage.Failure.self) { try await scene.book.flush() }
    storage.state.withLock { $0.isFailing = false }
    try scene.book.remove(gone.id)
    try await scene.book.flush()
    let book = try await PhoneBook.open(storage)
    let opened = ChannelBook(book)
    let only = try #require(opened.all.first)
    #expect(opened.all.count == 1 && only.id == id && only.policy == .storesLatest && only.accepted == 1)
    #expect(only.subscribers == [scene.phone.id])
    #expect(ChannelBook.Channel(kept: only.kept) == only && ChannelBook.Channel(kept: [:]) == nil)
    try await book.flush()
    let kept = storage.state.withLock { $0.channels }
    #expect(kept == [only], "a new phone with the ID of the one that is gone is subscribed to nothing")
  }

  @Test("without storage there is nothing to wait for")
  func none() async throws {
    let scene = try PhoneScene()
    try await scene.book.flush()
    #expect(scene.book.phones().count == 1)
  }
}
