import Foundation
import Model
import SQLite
import Simulator
import Store

/// What the phones page shows: the address chooses a phone, a notification, a part of it, and what is searched for.
struct PhoneBench {
  /// More phones are found by the search.
  static let shelfLimit = 60
  /// Notifications of one page of the inbox.
  static let inboxLimit = 40

  /// The parts of a notification's request.
  enum Pane: String, CaseIterable { case payload, headers, callbacks }

  struct Entry {
    let phone: SimulatedPhone
    let item: ReceivedNotification
    /// Nil: it is no push of a Live Activity.
    let activity: LiveActivity?
  }

  /// Whose inbox is shown; nil: everybody's.
  let owner: SimulatedPhone?
  let search: String
  let pane: Pane
  let shelf: [SimulatedPhone]
  /// Newest first.
  let inbox: [Entry]
  /// The last notification of this page of the inbox; nil: there are no older ones.
  let older: Int64?
  let unread: Int
  /// The phone on the stage.
  let phone: SimulatedPhone?
  let message: Entry?

  /// - Parameter phones: in their order on the shelf.
  init(_ phones: [SimulatedPhone], _ page: PageContext) {
    let search = page.filled("q") ?? ""
    owner = page.filled("phone").flatMap(Int64.init).flatMap { id in phones.first { $0.id == id } }
    self.search = search
    pane = page.filled("show").flatMap(Pane.init(rawValue:)) ?? .payload
    let wanted = search.lowercased()
    func isNamed(_ phone: SimulatedPhone) -> Bool {
      wanted.isEmpty || "\(phone.name)\n\(phone.model)\n\(phone.tokenText)".lowercased().contains(wanted)
    }
    var entries = (owner.map { [$0] } ?? phones).flatMap { phone in
      let items =
        isNamed(phone)
        ? phone.received
        : phone.received.filter { "\($0.payload)\n\($0.apnsID)".lowercased().contains(wanted) }
      let activities = phone.activities
      return items.map { Entry(phone: phone, item: $0, activity: activities[$0.id]) }
    }
    entries.sort { $0.item.id > $1.item.id }
    // An earlier push of a Live Activity is listed only if the search found it and not the present one.
    let ids = Set(entries.lazy.filter { $0.activity != nil }.map(\.item.id))
    let listed = entries.filter { entry in
      entry.activity.map { $0.current == entry.item.id || !ids.contains($0.current) } ?? true
    }
    unread = listed.count { $0.item.isUnread }
    let before = page.filled("before").flatMap(Int64.init) ?? .max
    let rest = listed.drop { $0.item.id >= before }
    inbox = Array(rest.prefix(Self.inboxLimit))
    older = rest.count > Self.inboxLimit ? inbox.last?.item.id : nil
    let chosen = page.filled("n").flatMap(Int64.init)
    message = entries.first { $0.item.id == chosen } ?? inbox.first
    phone = owner ?? message?.phone ?? phones.first(where: isNamed) ?? phones.first
    let found = Set(entries.map(\.phone.id))
    let onShelf = phones.filter { isNamed($0) || found.contains($0.id) }
    shelf = Array(onShelf.prefix(Self.shelfLimit))
  }

  /// The address of another choice.
  func href(phone: Int64?, message: Int64? = nil, pane: Pane = .payload, before: Int64? = nil) -> String {
    let parts: [(String, String)?] = [
      phone.map { ("phone", "\($0)") }, message.map { ("n", "\($0)") },
      pane == .payload ? nil : ("show", pane.rawValue), search.isEmpty ? nil : ("q", search),
      before.map { ("before", "\($0)") },
    ]
    let query = parts.compactMap { $0 }.map { "\($0.0)=\(ConsoleRouter.escaped($0.1))" }.joined(separator: "&")
    return query.isEmpty ? "/phones" : "/phones?\(query)"
  }
}

extension ReceivedNotification {
  /// Whether it still stands on the screen, and nobody tapped it.
  var isUnread: Bool { isShown && tapped == nil }
}

/// What the database knows of a notification: the push that it came from.
struct NotificationOrigin: Sendable {
  let push: Push
  let sent: Delivery.WithDevice?

  /// Nil if something else than this console sent it.
  static func find(_ database: Database, _ item: ReceivedNotification, device: Int64?) throws -> NotificationOrigin? {
    guard let uid = item.uniqueID, let push = try Push.find(database, uid: uid) else { return nil }
    let sent = try device.flatMap { try Delivery.find(database, push: push.id, device: $0) }
    return NotificationOrigin(push: push, sent: sent)
  }

  /// When the request left.
  var sentAt: Date? {
    sent.map { $0.delivery.at.addingTimeInterval(-Double($0.delivery.durationMilliseconds) / 1000) }
  }

  var href: String {
    sent.map { "/pushes/\(push.uid)/deliveries/\($0.delivery.deviceID)" } ?? "/pushes/\(push.uid)"
  }
}
