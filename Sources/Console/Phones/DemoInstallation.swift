import Certificates
package import Foundation
import JSON
import OpenSSL
import Model
package import Simulator
import SQLite
package import Store

/// Sets up the demo: the app, credentials for both environments, phones, and their devices.
package enum DemoInstallation {
  /// Idempotent: adds only what is missing, and leaves later changes as they are.
  /// - Throws: `StoreError`, `SQLiteError`, `OpenSSLError`, `PhoneBookError`.
  package static func install(_ world: DemoWorld = .shop, store: Store, phones: PhoneBook, now: Date) async throws {
    let sealer = store.sealer
    let app = try await store.write { database -> App in
      if let app = try App.find(database, bundleID: world.bundleID) { return app }
      let app = try App.add(database, bundleID: world.bundleID, name: world.appName, now: now)
      // A freshly generated key: the simulator accepts any well-formed key, and Apple knows none of them.
      let key = try PrivateKey.generateP256()
      let file = try CertificateFile.inspect(
        data: Data(key.pkcs8PEM.utf8), fileName: "AuthKey_DEMO123456.p8", password: nil)
      let labels = CertificateTracker.Labels(
        fileName: "AuthKey_DEMO123456.p8", appID: app.id, keyID: "DEMO123456", teamID: "SIGNALBOX1")
      let kept = try CertificateTracker.keep(database, file, labels, sealer: sealer, by: "signalbox", now: now)
      for environment in Environment.allCases {
        try Credential.bind(
          database, app: app.id, provider: .apns, environment: environment, certificate: kept.id,
          endpoint: "simulator", now: now)
        for provider in [ProviderKind.fcm, .jpush] {
          try Credential.bind(
            database, app: app.id, provider: provider, environment: environment, certificate: nil,
            endpoint: "simulator", now: now)
        }
      }
      _ = try ClientKey.add(database, app: app, by: "signalbox", now: now)
      try AuditEntry.add(
        database, NewAuditEntry(actor: "signalbox", action: "demo.install", subject: "app \(app.bundleID)"), now: now)
      return app
    }
    let made = try world.populate(phones)
    let registrations = made.map { phone, description in
      var registration = Registration(of: phone)
      registration.alias = .set(description.alias)
      registration.tags = .set(description.tags)
      registration.name = .set(description.name)
      var input = AppRegistration(app: app.id, registration)
      input.details = DeviceDetails(language: description.language)
      return input
    }
    guard !registrations.isEmpty else { return }
    try await phones.flush()
    _ = try await store.write { try AppRegistration.register($0, registrations, now: now) }
  }
}

extension Registration {
  /// What the app on a simulated phone registers.
  init(of phone: SimulatedPhone) {
    self.init(token: phone.token, environment: phone.environment, platform: phone.platform)
    provider = phone.provider
    if phone.provider == .jpush { registrationID = .set(phone.tokenText) }
  }
}
