import Foundation
import HTTPServer
import JSON
import Model
import Reactor
import SQLite
import Store

/// A console with one app that has a JPush key pair and devices in production, and calls with that key.
struct JPushScene: Sendable {
  let scene: ConsoleScene
  let app: App
  let appKey: String
  let secret: String

  static let push: JSONValue = ["platform": "all", "audience": "all", "notification": ["alert": "Hi"]]

  static func with(_ body: @Sendable (JPushScene) async throws -> Void) async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      let issued = try await scene.store.write {
        try JPushKey.issue($0, app: app, by: "anna", now: ConsoleScene.noon)
      }
      try await body(JPushScene(scene: scene, app: app, appKey: issued.key.appKey, secret: issued.secret))
    }
  }

  var store: Store { scene.store }

  var authorization: String { "Basic " + Data("\(appKey):\(secret)".utf8).base64EncodedString() }

  /// Registers iPhones with the registration IDs `r1`, `r2` … and their tags; the first also has the alias `anna`.
  @discardableResult
  func addDevices(_ tags: [String]...) async throws -> [Device] {
    let appID = app.id
    return try await store.write { database in
      let registrations = tags.enumerated().map { index, tags in
        var registration = Registration(
          token: ConsoleScene.token(index), environment: .production, platform: .ios)
        registration.registrationID = .set("r\(index + 1)")
        registration.tags = .set(tags)
        if index == 0 { registration.alias = .set("anna") }
        return registration
      }
      return try Device.register(database, app: appID, registrations, now: ConsoleScene.noon)
        .compactMap(\.deviceID).map { try Device.get(database, id: $0) }
    }
  }

  /// Calls as JPush's client for Python does.
  ///
  /// - Parameters:
  ///   - authorization: another one than the app's own; empty for none.
  ///   - address: the caller's.
  func call(
    _ method: HTTPServer.Method, _ target: String, _ json: JSONValue? = nil, body: [UInt8]? = nil,
    type: String = "application/json;charset:utf-8", authorization: String? = nil, from address: String = "192.0.2.1"
  ) async throws -> SceneAnswer {
    var headers = Headers()
    let authorization = authorization ?? self.authorization
    if !authorization.isEmpty { headers.append("Authorization", authorization) }
    headers.append("Content-Type", type)
    let request = try Request(
      method, target, headers: headers, body: body ?? json.map { Array($0.data()) } ?? [],
      remoteAddress: SocketAddress(host: address, port: 1))
    return SceneAnswer(response: await scene.router.respond(to: request))
  }

  /// The push of an answer, once it is over.
  func finished(_ answer: SceneAnswer) async throws -> Push? {
    guard let id = answer.json?["msg_id"]?.string.flatMap({ Int64($0) }) else { return nil }
    return try await scene.finished(try await store.read { try Push.get($0, id: id).uid })
  }

  /// The registration IDs of the devices that a push was accepted for.
  func reached(_ push: Push) async throws -> [String] {
    try await store.read { database in
      try Delivery.list(database, push: push.id, limit: 100).items
        .filter { $0.delivery.outcome == .accepted }.compactMap { $0.device?.registrationID }.sorted()
    }
  }
}

extension SceneAnswer {
  /// The code of a refusal in JPush's form; nil for any other body.
  var jpushCode: Int64? { json?["error"]?["message"]?.string == nil ? nil : json?["error"]?["code"]?.integer }
}
