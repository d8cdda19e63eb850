import Foundation
import JSON
import Model
import Mustache
import Simulator
import Store

/// `/phones`: the phones, what arrived, the chosen phone, the chosen notification, and the simulated errors.
struct PhoneBenchView: PageView {
  static let template = "phones/index"
  static let section: Section? = .phones

  let bench: PhoneBench
  /// How many changes of the phones it shows.
  let changes: Int
  let count: Int
  let shelf: [ShelfEntry]
  let inbox: [InboxEntry]
  let phone: PhoneCard?
  let message: PhoneMessageView?
  let faults: [PhoneFaultsView]
  /// The active simulated errors as text.
  let active: String

  static let fields: [Field<Self>] = [
    .written("changes") { $1.write($0.changes) },
    .number("count") { $0.count },
    .view("everybody") { LinkView(href: $0.bench.href(phone: nil), label: "") },
    .flag("shows_everybody") { $0.bench.owner == nil },
    .list("shelf") { $0.shelf },
    .flag("more_phones") { $0.bench.search.isEmpty && $0.count > $0.shelf.count },
    .view("owner") { $0.bench.owner.map { PhoneDevice(id: $0.id) } },
    .text("search") { $0.bench.search },
    .view("unread") { $0.bench.unread > 0 ? CountView(count: $0.bench.unread) : nil },
    .flag("searched") { !$0.bench.search.isEmpty },
    .flag("has_inbox") { !$0.inbox.isEmpty },
    .list("inbox") { $0.inbox },
    .optional("older") { view in
      view.bench.older.map { view.bench.href(phone: view.bench.owner?.id, before: $0) }
    },
    .view("phone") { $0.phone },
    .view("message") { $0.message },
    .view("notice") { $0.active.isEmpty ? nil : FaultNotice(faults: $0.active) },
    .list("environments") { $0.faults },
  ]
}

/// A phone on the shelf.
struct ShelfEntry: View {
  let href: String
  let name: String
  let note: String
  let isCurrent: Bool
  /// The color of the small phone's screen.
  let screen: String

  init(_ phone: SimulatedPhone, _ bench: PhoneBench, _ texts: Texts) {
    href = bench.href(phone: phone.id)
    name = phone.name
    isCurrent = bench.phone?.id == phone.id
    let isOff = phone.power == .off
    let entries = phone.entries
    let unread = entries.count { $0.isUnread }
    note =
      if isOff {
        texts("phones.state_off")
      } else if phone.state != .installed {
        texts("phones.gone")
      } else if unread > 0 {
        texts("phones.unread", count: unread)
      } else if phone.received.isEmpty {
        texts("phones.nothing")
      } else {
        texts("phones.notifications", count: entries.count)
      }
    screen = isOff ? "#050607" : phone.android != nil ? "#262d32" : phone.id % 2 == 0 ? "#2f6a72" : "#3d5f7d"
  }

  static let fields: [Field<Self>] = [
    .text("href") { $0.href }, .text("name") { $0.name }, .text("note") { $0.note },
    .flag("current") { $0.isCurrent }, .text("screen") { $0.screen },
  ]
}

/// A notification in the inbox.
struct InboxEntry: View {
  let row: PhoneNotificationRow
  let href: String
  let isCurrent: Bool
  let isUnread: Bool

  static let fields: [Field<Self>] = [
    .text("href") { $0.href }, .flag("current") { $0.isCurrent }, .flag("unread") { $0.isUnread },
    .view("row") { $0.row },
  ]
}

/// The chosen notification: what became of it, and its request.
struct PhoneMessageView: View {
  let row: PhoneNotificationRow
  /// The push's page; nil if another program sent it.
  let push: String?
  let facts: [FactView]
  let tabs: [PhoneTab]
  let pane: PhoneBench.Pane
  /// The pushes of the Live Activity; empty: it is none.
  let updates: [LiveUpdate]
  let story: [StoryStep]

  static let fields: [Field<Self>] = [
    .view("row") { $0.row },
    .optional("push") { $0.push },
    .list("facts") { $0.facts },
    .list("tabs") { $0.tabs },
    .flag("shows_payload") { $0.pane == .payload },
    .flag("shows_headers") { $0.pane == .headers },
    .flag("shows_callbacks") { $0.pane == .callbacks },
    .list("updates") { $0.updates },
    .flag("has_updates") { $0.updates.count > 1 },
    .list("story") { $0.story },
  ]
}

extension PhoneMessageView {
  init(_ row: PhoneNotificationRow, _ bench: PhoneBench, _ origin: NotificationOrigin?, _ texts: Texts) {
    let item = row.item
    let delay = origin?.sentAt.map { max(0, Int((item.receivedAt.timeIntervalSince($0) * 1000).rounded())) }
    let names = row.calls.map(\.name)
    let number = { (count: Int, key: String) in count > 0 ? texts(key, count: count) : nil }
    self.init(
      row: row, push: origin?.href,
      facts: [
        FactView(texts("phones.phone"), row.phone.name),
        FactView(texts("phones.arrived"), at: item.receivedAt),
        FactView(texts("phones.took"), delay.map { texts.duration(milliseconds: $0) }),
        FactView(texts("phones.shown"), row.place(texts)),
        FactView(texts("phones.calls"), names.isEmpty ? row.uncalled : texts.list(names), isMethods: !names.isEmpty),
        FactView(texts("phones.channel"), row.style),
        FactView(texts("phones.again"), number(item.duplicates, "phones.duplicates")),
        FactView(texts("phones.instead"), number(item.replaced, "phones.replaced")),
        FactView(texts("phones.opened"), at: item.tapped),
      ].compactMap { $0 },
      tabs: PhoneBench.Pane.allCases.map { pane in
        PhoneTab(
          href: bench.href(phone: bench.owner?.id, message: item.id, pane: pane), label: texts("phones.\(pane)"),
          isCurrent: pane == bench.pane, count: pane == .callbacks ? row.calls.count : nil)
      }, pane: bench.pane,
      updates: row.live.map { live in
        live.pushes.map { push in
          LiveUpdate(push, live, href: bench.href(phone: bench.owner?.id, message: push.id, pane: bench.pane), texts)
        }
      } ?? [], story: StoryStep.list(row, origin, texts))
  }
}

/// A push of a Live Activity: what it did, and the content that it brought.
struct LiveUpdate: View {
  let href: String
  let text: String
  let date: Date
  /// Whether it changed what was shown.
  let isDone: Bool

  init(_ push: ReceivedNotification, _ live: LiveActivity, href: String, _ texts: Texts) {
    let aps = push.json["aps"]
    let word =
      switch aps?["event"]?.string {
      case "start": texts("phones.update_start")
      case "end": texts("phones.update_end")
      default: texts("phones.update")
      }
    let content = PhoneNotificationRow.activity(aps, texts)?.content ?? ""
    self.href = href
    text = content.isEmpty ? word : "\(word) · \(content)"
    date = push.receivedAt
    isDone = !live.ignored.contains(push.id)
  }

  static let fields: [Field<Self>] = [
    .text("href") { $0.href }, .text("text") { $0.text }, .view("at") { MomentView(date: $0.date) },
    .flag("done") { $0.isDone },
  ]
}

/// A part of the request, to choose.
struct PhoneTab: View {
  let href: String
  let label: String
  let isCurrent: Bool
  let count: Int?

  static let fields: [Field<Self>] = [
    .text("href") { $0.href }, .text("label") { $0.label }, .flag("current") { $0.isCurrent },
    .view("number") { $0.count.map { CountView(count: $0) } },
  ]
}

/// Something that happened to a push on its way, and how long after the step before it.
struct StoryStep: View {
  let text: String
  let date: Date
  /// Nil for the first step.
  let after: String?
  let isDone: Bool

  static let fields: [Field<Self>] = [
    .text("text") { $0.text }, .view("at") { MomentView(date: $0.date) }, .optional("after") { $0.after },
    .flag("done") { $0.isDone },
  ]

  /// From the push's creation to the tap, in order of time.
  static func list(_ row: PhoneNotificationRow, _ origin: NotificationOrigin?, _ texts: Texts) -> [StoryStep] {
    let item = row.item
    var steps: [(date: Date, text: String, isDone: Bool)] = []
    if let push = origin?.push {
      let source = texts.clauses([texts("source.\(push.source.rawValue)"), ActivityActor(push.createdBy).name(texts)])
      steps.append((push.createdAt, texts("phones.story_created", ["source": source]), false))
    }
    if let sent = origin?.sentAt { steps.append((sent, texts("phones.story_sent"), false)) }
    if let delivery = origin?.sent?.delivery {
      let answer = ["outcome": texts("words.\(delivery.outcome.name)"), "status": "\(delivery.status)"]
      steps.append((delivery.at, texts("phones.story_answered", answer), true))
    }
    let isHanded = !row.calls.isEmpty || item.pushType?.receiver != nil
    let hidden = isHanded ? "phones.story_handed" : "phones.story_hidden"
    steps.append((item.receivedAt, texts(row.hidden == nil ? "phones.story_shown" : hidden), true))
    if let tapped = item.tapped { steps.append((tapped, texts("phones.story_tapped"), true)) }
    if let receipt = origin?.sent?.receipt {
      let reports = [
        ("displayed", receipt.displayedAt), ("opened", receipt.openedAt), ("dismissed", receipt.dismissedAt),
      ]
      for case (let kind, let date?) in reports {
        let report = ["event": texts("receipts.\(kind)").lowercased()]
        steps.append((date, texts("phones.story_reported", report), true))
      }
    }
    steps.sort { $0.date < $1.date }
    return steps.enumerated().map { index, step in
      let pause = index == 0 ? nil : step.date.timeIntervalSince(steps[index - 1].date)
      return StoryStep(text: step.text, date: step.date, after: pause.map { "+\(texts.span($0))" }, isDone: step.isDone)
    }
  }
}
