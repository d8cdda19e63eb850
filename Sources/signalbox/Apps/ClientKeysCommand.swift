import Arguments
import Foundation
import JSON
import SQLite
import Store
import Text

/// `apps client-keys`: the keys with which an app registers its devices.
enum ClientKeysCommand {
  private static let addition = Flag("add", "Create another key. Earlier ones stay valid.")
  private static let removal = Option<String?>(
    "remove", "key", "Remove this key: versions of the app that use it cannot register any more.")

  static func command(_ bundleID: Argument<String>) -> Command<Action> {
    Command(
      "client-keys", "List, create, and remove the keys that an app registers its devices with.",
      parameters: [
        bundleID.parameter, addition.parameter, removal.parameter, CommonOptions.data.parameter,
        CommonOptions.json.parameter,
      ]
    ) { values, io in
      let now = io.now()
      let (adds, removed) = (values[addition], values[removal])
      let keys = try writeStore(values, io) { database in
        let app = try App.named(values[bundleID], database)
        if adds { _ = try ClientKey.add(database, app: app, by: commandActor, now: now) }
        if let removed, try !ClientKey.remove(database, app: app, key: removed, by: commandActor, now: now) {
          throw CommandFailure("\(app.bundleID) has no client key \(removed).")
        }
        return try ClientKey.all(database, app: app.id)
      }
      io.hint(ifEmpty: keys, "no client keys yet; create one with --add")
      io.print(keys, values, in: io.table("KEY", "CREATED", "LAST USED")) { key in
        [key.key, key.createdAt.text, key.lastUsedAt?.text ?? io.text("never")]
      }
      return ExitCode.done
    }
  }
}
