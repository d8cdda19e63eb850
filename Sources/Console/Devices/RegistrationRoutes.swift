import Foundation
import HTTPServer
import JSON
import Logging
import Model
import SQLite
import Store

/// `/notificationtokenupload`: apps register their devices by themselves (docs/protocols.md §8.1).
///
/// Open to everybody on the Internet: the answer is the same whatever is known of the device, the user or others, and
/// without a device's token nothing can be done to it.
enum RegistrationRoutes {
  private static let path = "/notificationtokenupload"
  private static let storeRetry = 5

  static func add(to routes: inout ConsoleRouter) {
    let console = routes.console
    routes.app(.post, path, bodyLimit: RegistrationForm.bodyLimit) { request in
      try await answer(console, request) { key, app, form, now in
        var input = try form.registration(app)
        if key.expiresAt != nil { input.phoneKey = key.key }
        if let wait = console.clientLimits.wait(.device(input.registration.token.hashValue), now: now) {
          throw RegistrationRefusal(.tooOften, "Too many calls for this device.", retryAfter: wait)
        }
        return try await console.registrations.write(input)
      }
    }
    routes.app(.delete, path, bodyLimit: RegistrationForm.bodyLimit) { request in
      try await answer(console, request) { key, app, form, now in
        let (token, phoneKey) = (try form.token(), key.expiresAt == nil ? nil : key.key)
        return try await console.store.write {
          try AppRegistration.remove($0, app: app.id, token: token, phoneKey: phoneKey, now: now)
        }
      }
    }
  }

  private static func answer(
    _ console: Console, _ request: Request,
    _ handler: (ClientKey, App, RegistrationForm, Date) async throws -> RegistrationCode
  ) async throws -> Response {
    do {
      let code = try await call(console, request, handler)
      guard code == .success else { throw RegistrationRefusal(code, message(code)) }
      return answer(code, "success", .ok)
    } catch let refusal as RegistrationRefusal {
      var response = answer(refusal.code, refusal.message, refusal.status)
      if let seconds = refusal.retryAfter { response.headers.append("Retry-After", String(seconds)) }
      if refusal.status == .unauthorized { response.headers.append("WWW-Authenticate", "Bearer realm=\"client key\"") }
      return response
    } catch let error as HTTPError {
      return answer(.invalid, error.message.isEmpty ? error.status.reason : error.message, error.status)
    } catch let error where error is SQLiteError || error is WriteGroupFull {
      console.log.error("a registration was not stored", ["request": request.id, "error": "\(error)"])
      var response = answer(.server, "The server could not store it. Try again.", .serviceUnavailable)
      response.headers.append("Retry-After", String(storeRetry))
      return response
    }
  }

  private static func call(
    _ console: Console, _ request: Request,
    _ handler: (ClientKey, App, RegistrationForm, Date) async throws -> RegistrationCode
  ) async throws -> RegistrationCode {
    let (now, limits) = (console.clock(), console.clientLimits)
    if let address = ClientLimits.address(request), let wait = limits.wait(.registrations(address), now: now) {
      throw RegistrationRefusal(.tooOften, "Too many calls from this address.", retryAfter: wait)
    }
    let bearer = request.credentials("Bearer")
    let form = try await RegistrationForm(request, usesQuery: request.method == .delete)
    guard let text = bearer ?? form.clientKey, text.utf8.count <= ClientKey.length,
      let (key, app) = try await console.store.read({ database -> (ClientKey, App)? in
        guard let key = try ClientKey.find(database, key: text), key.expiresAt.map({ $0 > now }) ?? true else {
          return nil
        }
        return try App.find(database, id: key.appID).map { (key, $0) }
      })
    else {
      throw RegistrationRefusal(
        .invalidKey, "Send the app's client key as Authorization: Bearer, or as client_key. See the app's page.")
    }
    if let wait = limits.wait(.key(text), now: now) {
      throw RegistrationRefusal(.tooOften, "Too many calls of this app.", retryAfter: wait)
    }
    if key.lastUsedAt.map({ now.timeIntervalSince($0) > 60 }) ?? true {
      await console.store.noteUse { try ClientKey.touch($0, key: text, now: now) }
    }
    return try await handler(key, app, form, now)
  }

  private static func message(_ code: RegistrationCode) -> String {
    switch code {
    case .aliasFull: "This alias already has the maximum number of devices."
    case .invalidKey: "This key was for one phone. Create a new QR code on the app's page."
    case .deviceTags: "A device has at most \(TagRule.perDevice) tags."
    default: "The registration was refused."
    }
  }

  private static func answer(_ code: RegistrationCode, _ message: String, _ status: Status) -> Response {
    APIContext.answer(status: status) { json in
      json.member("code", code.rawValue)
      json.member("message", message)
    }
  }
}
