import Certificates
import Foundation
import JSON
import Model
import OpenSSL
import Simulator
import Store

@testable import Console

/// FCM and JPush beside APNs.
extension DeliveryScene {
  /// Gives the app a service account and JPush's keys, which send to the simulator in development.
  func addServices() async throws {
    let key = try PrivateKey.generateRSA()
    func endpoint(_ server: SimulatedServer) throws -> PushSimulator.Endpoint {
      guard let found = simulator.endpoint(server) else { throw SceneError("the simulator is not running") }
      return found
    }
    let account: JSONValue = [
      "type": "service_account", "project_id": "simulator", "private_key_id": "0123456789abcdef",
      "client_email": "signalbox@simulator.iam.gserviceaccount.com", "private_key": .string(key.pkcs8PEM),
      "token_uri": .string("https://localhost:\(try endpoint(.fcm).port)/token"),
    ]
    let pair = String(repeating: "a", count: 24) + ":" + String(repeating: "b", count: 24)
    let files = [
      (ProviderKind.fcm, try endpoint(.fcm), "shop.json", account.data()),
      (.jpush, try endpoint(.jpush), "jpush.txt", Data(pair.utf8)),
    ]
    for (provider, server, name, data) in files {
      let file = try CertificateFile.inspect(data: data, fileName: name, password: nil)
      try await store.write { [app, sealer = store.sealer] database in
        let kept = try CertificateTracker.keep(
          database, file, CertificateTracker.Labels(fileName: name, appID: app.id), sealer: sealer, by: "test",
          now: Date())
        try Credential.bind(
          database, app: app.id, provider: provider, environment: .development, certificate: kept.id,
          endpoint: "localhost:\(server.port)", trustPEM: String(decoding: server.trustPEM, as: UTF8.self), now: Date())
      }
    }
  }

  /// Phones of nobody in particular, a third with each service.
  func addThirds(_ count: Int) async throws -> [SimulatedPhone] { try await add(count, of: [.apns, .fcm, .jpush]) }

  /// Phones with JPush.
  func addJPush(_ count: Int) async throws -> [SimulatedPhone] { try await add(count, of: [.jpush]) }

  /// In turn with each service; every second of JPush's is an iPhone.
  private func add(_ count: Int, of providers: [ProviderKind]) async throws -> [SimulatedPhone] {
    let phones = try (0..<count).map { number in
      let provider = providers[number % providers.count]
      let isAndroid = provider == .fcm || provider == .jpush && number.isMultiple(of: 2)
      return try simulator.phones.add(
        NewPhone(
          name: "p\(number)", platform: isAndroid ? .android : .ios, provider: provider, environment: .development,
          topic: Self.topic))
    }
    for start in stride(from: 0, to: count, by: 10_000) {
      let part = phones[start..<min(start + 10_000, count)].map { Registration(of: $0) }
      try await store.write { [app] database in
        _ = try Device.register(database, app: app.id, part, now: Date() - 3600)
      }
    }
    return phones
  }

  /// Takes away what a killed server left in memory, as a restart of the machine does.
  func removeTrails() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: box.folder) where name.hasSuffix(".trail") {
      try FileManager.default.removeItem(atPath: "\(box.folder)/\(name)")
    }
  }
}
