import Model
import Mustache
import Store

/// Code for the app itself, filled in with its values: it registers the device and reports what became of a push.
struct AppCode: View {
  let app: App
  /// The console's public address.
  let address: String
  let clientKey: String

  static let fields: [Field<Self>] = [
    .text("swift") { $0.swift },
    .text("extension") { $0.serviceExtension },
    .text("delegate") { $0.delegate },
    .text("kotlin") { $0.kotlin },
  ]

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
    extension AppDelegate: UNUserNotificationCenterDelegate {
      func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken token: Data
      ) {
        Signalbox.register(token: token)
      }

      func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler done: @escaping () -> Void
      ) {
        let isDismissal = response.actionIdentifier == UNNotificationDismissActionIdentifier
        let userInfo = response.notification.request.content.userInfo
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
            Signalbox.report(this, "displayed", message.data["sbid"], message.data["sbsig"])
        }
    }

    object Signalbox {
        private const val ADDRESS = "\(address)"
        private const val CLIENT_KEY = "\(clientKey)"
        private const val ENVIRONMENT = "production"
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

        // In the activity, in onCreate, and in onNewIntent with its intent, into which Android puts both:
        // report(this, "opened", intent.getStringExtra("sbid"), intent.getStringExtra("sbsig")).
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
