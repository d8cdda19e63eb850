import Foundation
import HTTPServer
import Mustache
import Reactor
import Store

/// The part of an app's page with its JPush key pair.
enum JPushKeyPages {
  /// Creates the key pair, or replaces its secret, and shows the secret this once.
  static func issue(_ page: PageContext) async throws -> Response {
    let app = try await AppPages.find(page)
    let issued = try await page.store.write {
      try JPushKey.issue($0, app: app, by: page.actor, from: page.clientAddress, now: page.now)
    }
    return try page.shown(at: "/apps/\(app.id)", for: ShownPage.secretLifetime) { page in
      try await AppPage.show(page, secret: issued.secret)
    }
  }

  static func remove(_ page: PageContext) async throws -> Response {
    let app = try await AppPages.find(page)
    _ = try await page.store.write {
      try JPushKey.remove($0, app: app, by: page.actor, from: page.clientAddress, now: page.now)
    }
    return page.redirect(to: "/apps/\(app.id)", flash: "jpush_key_removed")
  }
}

/// An app's JPush key pair; the secret only when it was just made.
struct JPushKeyView: View {
  /// Nil: the app has none.
  let key: JPushKey?
  let secret: String?
  let mayChange: Bool
  /// The console's public address.
  let address: String
  let now: Date

  static let fields: [Field<Self>] = [
    .flag("has_key") { $0.key != nil },
    .text("app_key") { $0.key?.appKey ?? "" },
    .optional("secret") { $0.secret },
    .flag("may_change") { $0.mayChange },
    .view("used") { view in view.key?.lastUsedAt.map { MomentView(date: $0, now: view.now) } },
    .text("curl") { $0.curl },
    .text("code") { $0.code },
    .text("legacy_code") { $0.legacyCode },
  ]

  private var pair: String { "\(key?.appKey ?? ""):\(secret ?? "<master secret>")" }

  /// The call as JPush's documents write it.
  private var curl: String {
    """
    curl -X POST '\(address)/v3/push' -H 'Content-Type: application/json' \\
      -u '\(pair)' \\
      -d '{"platform":"all","audience":{"tag":["beta"]},"notification":{"alert":"Hello"},\
    "options":{"apns_production":false}}'
    """
  }

  /// A program for JPush's client for Python that runs unchanged.
  private var code: String {
    """
    import jpush
    from jpush import common

    url = '\(address)/v3/'
    common.ZONES['SIGNALBOX'] = dict(
        PUSH=url, REPORT=url, DEVICE=url + 'devices/', ALIAS=url + 'aliases/',
        TAG=url + 'tags/', SCHEDULE=url + 'schedules/', ADMIN='\(address)/v1/')
    push = jpush.JPush('\(key?.appKey ?? "")', '\(secret ?? "<master secret>")', zone='signalbox').create_push()
    push.platform = jpush.all_
    push.audience = jpush.audience(jpush.tag('beta'))
    push.notification = jpush.notification(alert='Hello')
    push.options = {'apns_production': False}
    print(push.send().payload)
    """
  }

  /// The same for the legacy protocol of FCM, whose server key is the key pair.
  private var legacyCode: String {
    """
    from pyfcm import FCMNotification
    from pyfcm.baseapi import BaseAPI

    BaseAPI.FCM_END_POINT = '\(address)/fcm/send'
    client = FCMNotification(api_key='\(pair)')
    print(client.notify_topic_subscribers(topic_name='beta', message_body='Hello'))
    """
  }
}
