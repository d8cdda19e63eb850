import Foundation
internal import Model
internal import Mustache
package import SQLite
package import Store

extension ReminderContent {
  /// A push or schedule that waits for a second person.
  package struct Request: Sendable {
    let approval: Approval
    /// The app's name.
    let app: String
    /// The notification's first text, or the app's name.
    let title: String
    /// The path of its page.
    let path: String
    /// Nil: at once, or it is a schedule.
    let sendAt: Date?

    package init(_ approval: Approval, _ database: Database) throws {
      let (path, appID, text, sendAt): (String, Int64, String?, Date?)
      switch approval.subject {
      case .push(let id):
        let push = try Push.get(database, id: id)
        (path, appID, text, sendAt) = ("/pushes/\(push.uid)", push.appID, push.title ?? push.body, push.sendAt)
      case .schedule(let id):
        let schedule = try Schedule.get(database, id: id)
        (path, appID, text, sendAt) = (
          "/schedules/\(schedule.uid)", schedule.appID, schedule.title ?? schedule.body, nil
        )
      }
      let name = try App.get(database, id: appID).name
      // A line of the mail: a text of several lines would look like more of the mail.
      let line = (text ?? "").split(whereSeparator: \.isNewline).joined(separator: " ")
      (self.approval, self.path, self.sendAt, app) = (approval, path, sendAt, name)
      title = line.isEmpty ? name : String(line.prefix(100))
    }
  }

  /// A request as an item of the templates.
  func rendered(_ request: Request) -> Value {
    let approval = request.approval
    var facts: [(label: String, value: String)] = [
      (texts("details.app"), request.app), (texts("approval.asker"), approval.asker.name),
    ]
    if let reach = approval.reach { facts.append((texts("approval.devices"), "\(reach)")) }
    if let sendAt = request.sendAt { facts.append((texts("approval.planned"), day(sendAt))) }
    return [
      "name": .string(request.title), "left": .string(texts("approval.until", ["date": day(approval.expiresAt)])),
      "bad": .bool(false), "soon": .bool(true), "calm": .bool(false),
      "link": .string(address.map { $0 + request.path } ?? ""), "renewal": .string(texts("approval.means")),
      "renewal_title": .string(texts("approval.next")),
      "renewal_line": .string(line(texts("approval.next"), texts("approval.means"))),
      "facts": .list(facts.map(rendered)),
    ]
  }
}
