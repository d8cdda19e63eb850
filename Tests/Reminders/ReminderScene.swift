import Certificates
import Foundation
import JSON
import Logging
import Mail
import OpenSSL
import Model
import Reactor
import Reminders
import Store
import Synchronization
import TestSupport

/// A database with a certificate, a mail server, and workers that look.
struct ReminderScene {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  static let mailFolder = root.appendingPathComponent("Templates/mail").path
  /// 2026-11-20 12:00 UTC.
  static let noon = Date(timeIntervalSince1970: 1_795_176_000)

  let folder: URL
  let store: Store
  let key: SealingKey
  let pool = BlockingPool(name: "test", threads: 2)
  let courier: Courier

  private struct Silence: LogSink { func write(_ entry: LogEntry) {} }
  static let log = Logger(label: "test", level: .critical, sink: Silence())

  static func with(_ body: (ReminderScene) async throws -> Void) async throws {
    let scene = try ReminderScene()
    do {
      try await body(scene)
    } catch {
      scene.close()
      throw error
    }
    scene.close()
  }

  private init() throws {
    folder = try temporaryFolder()
    key = SealingKey()
    store = try Store.openNew(path: folder.path + "/signalbox.sqlite", sealer: key, readers: 2, now: Self.noon)
    courier = try Courier(folder: Self.mailFolder, address: "https://push.example.com", pool: pool, isStrict: true)
  }

  private func close() {
    store.close()
    pool.stop()
    try? FileManager.default.removeItem(at: folder)  // a left-over folder fails no test
  }

  /// Another process's view of the same file.
  func another() throws -> Store {
    try Store.open(path: folder.path + "/signalbox.sqlite", sealer: key, readers: 1, now: Self.noon)
  }

  func worker(_ source: CheckRun.Source, _ store: Store? = nil) -> ReminderWorker {
    ReminderWorker(store: store ?? self.store, courier: courier, source: source, log: Self.log)
  }

  /// Keeps something that ends; gives its key.
  @discardableResult
  func keep(
    _ name: String, until: Date, app: Int64? = nil, sha256: String = UUID().uuidString
  ) async throws -> Acknowledgement.Subject {
    let sealer = key
    return try await store.write { database in
      var details = TrackedCertificate.Details(kind: "apns_certificate", name: name, fileName: "push.p12")
      (details.notAfter, details.appID, details.sha256, details.serial) = (until, app, sha256, "0A1B2C")
      (details.topics, details.environments) = (["com.example.shop"], [.production])
      let kept = try TrackedCertificate.add(
        database, details, material: [1], sealer: sealer, by: "test", now: Self.noon)
      return .init(key: "certificates/\(kept.id)", fingerprint: sha256)
    }
  }

  @discardableResult
  func receiver(
    _ address: String, _ channel: Receiver.Channel = .email, language: String = "en", app: Int64? = nil,
    secret: String = ""
  ) async throws -> Receiver {
    let sealer = key
    return try await store.write { database in
      try Receiver.add(
        database,
        Receiver.Details(channel: channel, name: address, target: address, language: language, appID: app),
        Receiver.Secrets(address: address, secret: secret), sealer: sealer, by: "test", now: Self.noon)
    }
  }

  func use(_ server: SMTPTestServer) async throws {
    let (sealer, port) = (key, server.port)
    try await store.write { database in
      guard let from = MailAddress("box@example.com", name: "Signalbox") else { return }
      try MailSettings.save(
        MailSettings(server: SMTPServer(host: "127.0.0.1", port: port, security: .none), from: from), database,
        sealer: sealer, now: Date(timeIntervalSince1970: 0))
    }
  }

  func settings(days: [Int] = ReminderLadder.usual.days, hour: Int = 8, zone: String = "UTC") async throws {
    let zone = TimeZone(identifier: zone) ?? .gmt
    try await store.write { database in
      try ReminderSettings(ladder: ReminderLadder(days: days), hour: hour, zone: zone).save(database)
    }
  }

  /// Every step that was claimed.
  func steps() async throws -> [Acknowledgement.Subject: [Int]] { try await store.read { try Reminder.steps($0) } }

  func messages() async throws -> [ReminderMessage] {
    try await store.read { try ReminderMessage.list($0, limit: 500).items.reversed() }
  }
}

extension ReminderWorker {
  /// A look in which no time passes.
  @discardableResult
  func look(now: Date) async throws -> Look { try await look(clock: { now }) }
}
