import HTTPServer
import JSON
import Model
import Providers
import Store

/// What the push services are asked for.
extension APIAnswersTests {
  private static let registrationID = "1a0018970a8f4a3b2c1"

  /// A device registered with JPush, the seventh, one of FCM's, and a JPush that answers.
  static func answerServices(_ scene: ConsoleScene, _ app: App) async throws {
    let token = DeviceToken(bytes: Array(registrationID.utf8))
    _ = try await scene.store.write { database in
      var registration = Registration(token: token, environment: .development, platform: .android)
      registration.provider = .jpush
      let fcm = Registration(
        token: DeviceToken(bytes: Array("fWx9kQ2dSxyZ:APA91bHun4MxP5egoKMwt2KZ".utf8)), environment: .development,
        platform: .android)
      return try Device.register(database, app: app.id, [registration, fcm], now: ConsoleScene.noon)
    }
    scene.provider.answerJPush { operation in
      switch operation {
      case .removeSchedule("none"): throw ServiceRefusal(status: 404, reason: "JPush 8104")
      case .schedules:
        [
          "total_count": 1, "total_pages": 1, "page": 1,
          "schedules": [
            [
              "schedule_id": "0eac1b80-c2ac-4b69-948b-c65b34b96512", "name": "morning", "enabled": true,
              "trigger": ["single": ["time": "2026-12-01 09:00:00"]],
              "push": ["platform": "all", "audience": "all", "notification": ["alert": "Good morning"]],
            ]
          ],
        ]
      case .device: ["alias": .null, "tags": [], "mobile": .null]
      case .alias: ["registration_ids": [.string(registrationID)]]
      case .tags: ["tags": ["vip"]]
      case .isTagged: ["result": true]
      default: .null
      }
    }
  }

  static var serviceCalls: [Call] {
    let (base, shop) = ("/apps/{app}/jpush/{environment}", "/apps/\(app)/jpush/development")
    let (tag, alias, schedule) = (base + "/tags/{name}", base + "/aliases/{name}", base + "/schedules/{name}")
    let tagged = tag + "/devices/{device}"
    let (changes, shopChanges) = (
      "/apps/{app}/topics/{environment}/changes", "/apps/\(app)/topics/production/changes"
    )
    let (change, members) = (changes + "/{change}", changes + "/{change}/devices")
    let everyone: JSONValue = ["topic": "news", "action": "subscribe", "audience": "all"]
    return [
      Call(.post, changes, shopChanges, 422, json: everyone),
      Call(.post, changes, "/apps/\(app)/topics/development/changes", 202, json: everyone),
      Call(.get, changes, "/apps/\(app)/topics/development/changes", 200),
      Call(.get, changes, "/apps/\(app)/topics/staging/changes", 404),
      Call(.get, change, "/apps/\(app)/topics/development/changes/1", 200), Call(.get, change, shopChanges + "/1", 404),
      Call(.get, members, "/apps/\(app)/topics/development/changes/1/devices?state=pending", 200),
      Call(.get, members, "/apps/\(app)/topics/development/changes/1/devices?state=odd", 422),
      Call(.get, "/devices/{id}/jpush", "/devices/7/jpush", 200),
      Call(.get, "/devices/{id}/jpush", "/devices/1/jpush", 409),
      Call(.post, "/devices/{id}/jpush", "/devices/7/jpush", 200),
      Call(.post, "/devices/{id}/jpush", "/devices/999/jpush", 404),
      Call(.get, base + "/schedules", shop + "/schedules", 200),
      Call(.get, base + "/schedules", "/apps/\(app)/jpush/staging/schedules", 404),
      Call(.delete, schedule, shop + "/schedules/some", 204), Call(.delete, schedule, shop + "/schedules/none", 404),
      Call(.get, base + "/tags", shop + "/tags", 200),
      Call(.get, base + "/tags", "/apps/com.example.none/jpush/production/tags", 404),
      Call(.get, tagged, shop + "/tags/vip/devices/\(registrationID)", 200),
      Call(.get, tagged, "/apps/com.example.none/jpush/production/tags/vip/devices/1", 404),
      Call(.post, tag, shop + "/tags/vip", 204, json: ["add": [.string(registrationID)]]),
      Call(.post, tag, shop + "/tags/vip", 422, json: ["add": 1]), Call(.delete, tag, shop + "/tags/vip", 204),
      Call(.delete, tag, "/apps/com.example.none/jpush/production/tags/vip", 404),
      Call(.get, alias, shop + "/aliases/usr_ada", 200),
      Call(.get, alias, "/apps/com.example.none/jpush/production/aliases/usr_ada", 404),
      Call(.delete, alias, shop + "/aliases/usr_ada", 204),
      Call(.delete, alias, "/apps/com.example.none/jpush/production/aliases/usr_ada", 404),
    ]
  }
}
