import Model
import Mustache
import Store

/// Code for the app itself, filled in with its values: it registers the device, reports what became of a push, drops
/// repeats of one, and opens the page of its rules (docs/protocols.md §5, §6).
struct AppCode: View {
  let app: App
  let rules: PageRules
  /// The console's public address.
  let address: String
  let clientKey: String

  static let fields: [Field<Self>] = [
    .text("swift") { $0.swift },
    .text("extension") { $0.serviceExtension },
    .text("delegate") { $0.delegate },
    .text("kotlin") { $0.kotlin },
  ]

  private enum Language { case swift, kotlin }

  /// The rules as literals, one a line: what a type opens is the deep link, or else the page's name.
  private func pages(_ language: Language) -> String {
    func literal(_ text: String) -> String {
      let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      // In Kotlin it begins a value.
      return "\"\(language == .kotlin ? escaped.replacing("$", with: "\\$") : escaped)\""
    }
    if rules.rules.isEmpty { return language == .swift ? ":" : "" }
    let (between, indent) = language == .swift ? (": ", 4) : (" to ", 8)
    return rules.rules.map { "\(literal($0.type))\(between)\(literal($0.deepLink ?? $0.page))," }
      .joined(separator: "\n" + String(repeating: " ", count: indent))
  }

  private var swift: String {
    """
    // Signalbox.swift, in the app and in its notification service extension.
    // Both need the app group group.\(app.bundleID) (Signing & Capabilities).
    import Foundation

    enum Signalbox {
      static let address = URL(string: "\(address)")!
      static let clientKey = "\(clientKey)"
      static let shared = UserDefaults(suiteName: "group.\(app.bundleID)")!
      #if DEBUG
        static let environment = "development"
      #else
        static let environment = "production"
      #endif
      /// What a tap opens, by the payload's key “link”: a page, or an address in which {key} stands for a value.
      static let pages: [String: String] = [
        \(pages(.swift))
      ]
      private static var latest = 0
      /// User and tags that the server does not have yet: a call without them does not drop them.
      private static var unsent: [String: Any] = [:]

      /// Call this with the token at every start, after each login, even an automatic one, and after logout (user: "").
      /// Without `user`, the user does not change.
      static func register(token: Data, user: String? = nil, tags: [String]? = nil) {
        let text = token.map { String(format: "%02x", $0) }.joined()
        let version = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString")
        var fields: [String: Any] = [
          "token": text, "platform": "ios", "environment": environment,
          "app_version": version as? String ?? "", "time_zone": TimeZone.current.identifier,
          "language": Locale.preferredLanguages.first ?? "",
        ]
        if let user { unsent["user"] = user }
        if let tags { unsent["tags"] = tags }
        fields.merge(unsent) { $1 }
        if let former = shared.string(forKey: "token"), former != text { fields["previous_token"] = former }
        latest += 1
        upload(fields, number: latest) { shared.set(text, forKey: "token") }
      }

      /// Repeats every 3 seconds until the server accepts it. A later call replaces an earlier one.
      private static func upload(_ fields: [String: Any], number: Int, done: @escaping () -> Void) {
        guard number == latest else { return }
        post("notificationtokenupload", fields) { status, answer, retryAfter in
          let code = answer["code"] as? Int ?? 6009
          if status == 200 || ![6009, 6011, 6024].contains(code) {
            if number == latest { unsent = [:] }
            // 6003, 6004 and similar codes: the same call would be refused again. The message says why.
            return status == 200 ? done() : print("Signalbox: \\(code) \\(answer["message"] ?? "")")
          }
          DispatchQueue.main.asyncAfter(deadline: .now() + max(3, retryAfter)) {
            upload(fields, number: number, done: done)
          }
        }
      }

      /// Reports "displayed", "opened" or "dismissed". Unsent reports are sent with the next one.
      static func report(_ event: String, _ userInfo: [AnyHashable: Any], then: @escaping () -> Void = {}) {
        guard let id = userInfo["sbid"] as? String, let signature = userInfo["sbsig"] as? String,
          let token = shared.string(forKey: "token")
        else { return then() }
        var queue = shared.array(forKey: "receipts") as? [[String: String]] ?? []
        queue.append([
          "sbid": id, "sbsig": signature, "event": event, "at": ISO8601DateFormatter().string(from: Date()),
        ])
        queue = Array(queue.suffix(500))
        shared.set(queue, forKey: "receipts")
        post("receipts", ["token": token, "receipts": queue]) { status, _, _ in
          if status == 200 {
            let rest = shared.array(forKey: "receipts") as? [[String: String]] ?? []
            shared.set(rest.filter { !queue.contains($0) }, forKey: "receipts")
          }
          then()
        }
      }

      /// False if this push was met before: iOS may call several methods for one push, and one twice.
      ///
      /// - Parameter event: "arrived", to fetch new data once, or "opened", to change the page once.
      static func isNew(_ userInfo: [AnyHashable: Any], _ event: String) -> Bool {
        guard let id = userInfo["sbid"] as? String else { return true }
        let seen = shared.stringArray(forKey: "seen") ?? []
        let mark = event + " " + id
        if seen.contains(mark) { return false }
        shared.set(Array((seen + [mark]).suffix(200)), forKey: "seen")
        return true
      }

      /// What a tap on this push opens; nil: the app as it was.
      static func page(of userInfo: [AnyHashable: Any]) -> String? {
        guard let type = userInfo["link"] as? String, var page = pages[type] else { return nil }
        for (key, value) in userInfo where page.contains("{\\(key)}") {
          let text = "\\(value)".addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
          page = page.replacingOccurrences(of: "{\\(key)}", with: text)
        }
        return page
      }

      private static func post(
        _ path: String, _ fields: [String: Any], _ then: @escaping (Int, [String: Any], Double) -> Void
      ) {
        var request = URLRequest(url: address.appendingPathComponent(path))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("Bearer \\(clientKey)", forHTTPHeaderField: "Authorization")
        request.httpBody = try? JSONSerialization.data(withJSONObject: fields)
        URLSession.shared.dataTask(with: request) { data, response, _ in
          let answer = data.flatMap { try? JSONSerialization.jsonObject(with: $0) } as? [String: Any]
          let response = response as? HTTPURLResponse
          let wait = response?.value(forHTTPHeaderField: "Retry-After").flatMap(Double.init) ?? 0
          DispatchQueue.main.async { then(response?.statusCode ?? 0, answer ?? [:], wait) }
        }.resume()
      }
    }
    """
  }

  private var serviceExtension: String {
    """
    // NotificationService.swift, a target “Notification Service Extension”.
    // iOS calls it only for pushes with mutable-content.
    import UserNotifications

    final class NotificationService: UNNotificationServiceExtension {
      private var handler: ((UNNotificationContent) -> Void)?
      private var content: UNNotificationContent?

      override func didReceive(
        _ request: UNNotificationRequest, withContentHandler handler: @escaping (UNNotificationContent) -> Void
      ) {
        (self.handler, content) = (handler, request.content)
        Signalbox.report("displayed", request.content.userInfo) { [weak self] in self?.finish() }
      }

      override func serviceExtensionTimeWillExpire() { finish() }

      private func finish() {
        if let content { handler?(content) }
        handler = nil
      }
    }
    """
  }

  private var delegate: String {
    """
    // AppDelegate.swift. Set UNUserNotificationCenter.current().delegate = self in didFinishLaunchingWithOptions.
    // iOS reports a dismissal only for categories with the option .customDismissAction.
    // Yours are refresh(), which asks your server for what is new, and open(_:), which shows a page: only after a tap.
    // With JPush’s library, its methods jpushNotificationCenter(…) have the same code.
    extension AppDelegate: UNUserNotificationCenterDelegate {
      func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken token: Data
      ) {
        Signalbox.register(token: token)
      }

      // With content-available and the background mode “remote notifications”, iOS wakes the app for it.
      func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler done: @escaping (UIBackgroundFetchResult) -> Void
      ) {
        guard Signalbox.isNew(userInfo, "arrived") else { return done(.noData) }
        refresh()
        done(.newData)
      }

      func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler done: @escaping (UNNotificationPresentationOptions) -> Void
      ) {
        // Local notifications come here, too.
        let isPush = notification.request.trigger is UNPushNotificationTrigger
        if isPush, Signalbox.isNew(notification.request.content.userInfo, "arrived") { refresh() }
        done([.banner, .list, .sound, .badge])
      }

      func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler done: @escaping () -> Void
      ) {
        guard response.notification.request.trigger is UNPushNotificationTrigger else { return done() }
        let isDismissal = response.actionIdentifier == UNNotificationDismissActionIdentifier
        let userInfo = response.notification.request.content.userInfo
        if !isDismissal, Signalbox.isNew(userInfo, "opened") {
          refresh()
          if let page = Signalbox.page(of: userInfo) { open(page) }
        }
        Signalbox.report(isDismissal ? "dismissed" : "opened", userInfo, then: done)
      }
    }
    """
  }

  private var kotlin: String {
    """
    // SignalboxService.kt; in the manifest with the action com.google.firebase.MESSAGING_EVENT.
    package \(app.packageName ?? app.bundleID)

    import android.content.Context
    import android.content.Intent
    import android.net.Uri
    import android.util.Log
    import com.google.firebase.messaging.FirebaseMessagingService
    import com.google.firebase.messaging.RemoteMessage
    import java.net.HttpURLConnection
    import java.net.URL
    import java.text.SimpleDateFormat
    import java.util.Date
    import java.util.Locale
    import java.util.TimeZone
    import java.util.concurrent.ConcurrentHashMap
    import java.util.concurrent.Executors
    import java.util.concurrent.TimeUnit
    import org.json.JSONArray
    import org.json.JSONObject

    class SignalboxService : FirebaseMessagingService() {
        override fun onNewToken(token: String) = Signalbox.register(this, token)

        // Android calls it for data messages, and for others while the app is open, and then shows nothing: show a
        // notification here, then report it. From Android 13 on, the app must ask for POST_NOTIFICATIONS once.
        override fun onMessageReceived(message: RemoteMessage) {
            if (!Signalbox.isNew(this, message.data["sbid"], "arrived")) return
            Signalbox.report(this, "displayed", message.data["sbid"], message.data["sbsig"])
        }
    }

    object Signalbox {
        private const val ADDRESS = "\(address)"
        private const val CLIENT_KEY = "\(clientKey)"
        private const val ENVIRONMENT = "production"
        // What a tap opens, by the data's key “link”: a page, or an address in which {key} stands for a value.
        private val pages = mapOf<String, String>(
            \(pages(.kotlin))
        )
        private val worker = Executors.newSingleThreadScheduledExecutor()
        // User and tags that the server does not have yet: a call without them does not drop them.
        private val unsent = ConcurrentHashMap<String, Any>()
        @Volatile private var latest = 0

        // Call this at every start, after each login, even an automatic one, and after logout (user = ""):
        // FirebaseMessaging.getInstance().token.addOnSuccessListener { Signalbox.register(this, it, user) }
        @Synchronized fun register(context: Context, token: String, user: String? = null, tags: List<String>? = null) {
            val store = context.getSharedPreferences("signalbox", Context.MODE_PRIVATE)
            val former = store.getString("token", null)
            val fields = JSONObject()
                .put("token", token).put("platform", "android").put("environment", ENVIRONMENT)
                .put("app_version", context.packageManager.getPackageInfo(context.packageName, 0).versionName)
                .put("time_zone", TimeZone.getDefault().id).put("language", Locale.getDefault().toLanguageTag())
            if (user != null) unsent["user"] = user
            if (tags != null) unsent["tags"] = JSONArray(tags)
            unsent.forEach { (name, value) -> fields.put(name, value) }
            if (former != null && former != token) fields.put("previous_token", former)
            val number = ++latest
            upload(fields, number) { store.edit().putString("token", token).apply() }
        }

        // Repeats every 3 seconds until the server accepts it. A later call replaces an earlier one.
        private fun upload(fields: JSONObject, number: Int, wait: Long = 0, done: () -> Unit) {
            worker.schedule({
                if (number == latest) {
                    val (status, answer, retryAfter) = post("notificationtokenupload", fields)
                    val code = answer.optInt("code", 6009)
                    if (status != 200 && code in listOf(6009, 6011, 6024)) {
                        upload(fields, number, maxOf(3L, retryAfter), done)
                    } else {
                        if (number == latest) unsent.clear()
                        // 6003, 6004 and similar codes: the same call would be refused again. The message says why.
                        if (status == 200) done() else Log.w("Signalbox", "$code ${answer.optString("message")}")
                    }
                }
            }, wait, TimeUnit.SECONDS)
        }

        // False if this push was met before. event: "arrived", to show it once, or "opened", to change the page once.
        @Synchronized fun isNew(context: Context, id: String?, event: String): Boolean {
            if (id == null) return true
            val store = context.getSharedPreferences("signalbox", Context.MODE_PRIVATE)
            val seen = (store.getString("seen", null) ?: "").split(' ')
            val mark = "$event:$id"
            if (mark in seen) return false
            store.edit().putString("seen", (seen + mark).takeLast(200).joinToString(" ")).apply()
            return true
        }

        // In the activity, in onCreate, and in onNewIntent with its intent, into which Android puts the data. Open what
        // this returns: pages change only after a tap. Null: no page, no tap, or not for the first time.
        fun opened(context: Context, intent: Intent): String? {
            val id = intent.getStringExtra("sbid") ?: return null
            if (!isNew(context, id, "opened")) return null
            report(context, "opened", id, intent.getStringExtra("sbsig"))
            val page = pages[intent.getStringExtra("link")] ?: return null
            val key = Regex("\\\\{([^{}]+)\\\\}")
            return key.replace(page) { Uri.encode(intent.getStringExtra(it.groupValues[1]) ?: "") }
        }

        // In the receiver of the notification's deleteIntent: "dismissed".
        fun report(context: Context, event: String, id: String?, signature: String?) {
            val store = context.getSharedPreferences("signalbox", Context.MODE_PRIVATE)
            val token = store.getString("token", null)
            if (id == null || signature == null || token == null) return
            val time = SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ss'Z'", Locale.US)
            time.timeZone = TimeZone.getTimeZone("UTC")
            val at = time.format(Date())
            worker.execute {
                val queue = JSONArray(store.getString("receipts", "[]"))
                queue.put(JSONObject().put("sbid", id).put("sbsig", signature).put("event", event).put("at", at))
                while (queue.length() > 500) queue.remove(0)
                val (status) = post("receipts", JSONObject().put("token", token).put("receipts", queue))
                store.edit().putString("receipts", if (status == 200) "[]" else queue.toString()).apply()
            }
        }

        private fun post(path: String, fields: JSONObject): Triple<Int, JSONObject, Long> = try {
            val call = URL("$ADDRESS/$path").openConnection() as HttpURLConnection
            call.requestMethod = "POST"
            call.doOutput = true
            call.setRequestProperty("Content-Type", "application/json")
            call.setRequestProperty("Authorization", "Bearer $CLIENT_KEY")
            call.outputStream.use { it.write(fields.toString().toByteArray()) }
            val stream = if (call.responseCode < 400) call.inputStream else call.errorStream
            val answer = stream?.bufferedReader()?.use { it.readText() } ?: "{}"
            Triple(call.responseCode, JSONObject(answer), call.getHeaderField("Retry-After")?.toLongOrNull() ?: 0L)
        } catch (error: Exception) {
            Triple(0, JSONObject(), 0L)
        }
    }
    """
  }
}
