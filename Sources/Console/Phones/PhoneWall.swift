import Foundation
import HTTPServer
import Model
import Mustache
import Simulator
import Store

/// `/phones/wall`: some phones as large as a second monitor can show them, kept live.
enum PhoneWall {
  /// Two rows of three, or one of six.
  static let size = 6
  private static let feedLength = 4
  /// More are not offered to choose from.
  private static let choiceLimit = 60

  static func show(_ page: PageContext) async throws -> Response {
    guard let simulator = page.console.simulator else { return page.answer(NoPhonesView()) }
    let changes = simulator.phones.changeCount
    let all = simulator.phones.phones()
    let wanted = Set(page.query.pairs.filter { $0.name == "phone" }.compactMap { Int64($0.value) })
    let chosen = Array(all.filter { wanted.contains($0.id) }.prefix(size))
    let phones = chosen.isEmpty ? latest(all) : chosen
    let (texts, now) = (page.texts, page.now)
    let (apps, pushes) = try await page.store.read { database in
      let feed = try Push.list(database, PushFilter(), limit: feedLength).items
      return (try App.all(database), try feed.map { try ListedPush(database, $0) })
    }
    func app(_ topic: String) -> App? { apps.first { $0.bundleID == topic } }
    return page.answer(
      PhoneWallView(
        changes: changes,
        phones: phones.map { phone in
          WallPhone(
            card: PhoneCard(phone, app: app(phone.topic), device: nil, channels: [], texts: texts, now: now), texts)
        },
        feed: pushes.map { listed in
          PushRow(listed, app: apps.first { $0.id == listed.push.appID }, texts: texts, now: now)
        },
        choices: all.prefix(choiceLimit).map { phone in
          ChoiceView(value: "\(phone.id)", label: phone.name, isSelected: phones.contains { $0.id == phone.id })
        }, now: now))
  }

  /// Those that something arrived at last, in the order of the shelf.
  private static func latest(_ phones: [SimulatedPhone]) -> [SimulatedPhone] {
    let last = phones.sorted { ($0.received.first?.id ?? 0, $1.id) > ($1.received.first?.id ?? 0, $0.id) }.prefix(size)
    return last.sorted { $0.id < $1.id }
  }
}

struct PhoneWallView: PageView {
  static let template = "phones/wall"
  static let section: Section? = .phones

  /// How many changes of the phones it shows.
  let changes: Int
  let phones: [WallPhone]
  let feed: [PushRow]
  let choices: [ChoiceView]
  let now: Date

  static let fields: [Field<Self>] = [
    .written("changes") { $1.write($0.changes) },
    .number("count") { $0.phones.count },
    .list("phones") { $0.phones },
    .view("unreachable") { view in
      let count = view.phones.count { $0.tone == "red" }
      return count > 0 ? CountView(count: count) : nil
    },
    .list("feed") { $0.feed },
    .list("choices") { $0.choices },
    .written("time") { $1.write(clock: $0.now) },
  ]
}

/// A phone on the wall, with one line of what happened last.
struct WallPhone: View {
  let card: PhoneCard
  let tone: String
  let line: String

  init(card: PhoneCard, _ texts: Texts) {
    let phone = card.phone
    let place = [card.app?.name ?? phone.topic, card.environment]
    self.card = card
    let last = phone.received.first
    let news: String
    if phone.power == .off {
      (tone, news) = ("none", texts("phones.state_off"))
    } else if phone.state != .installed {
      (tone, news) = ("red", texts("phones.gone"))
    } else if let last {
      tone = ""
      news = texts(last.tapped != nil ? "phones.was_opened" : last.isShown ? "phones.was_shown" : "phones.was_hidden")
    } else {
      (tone, news) = ("none", texts("phones.nothing"))
    }
    line = "\(texts.clauses(place)) · \(news)"
  }

  static let fields: [Field<Self>] = [
    .view("card") { $0.card }, .text("tone") { $0.tone }, .text("line") { $0.line },
    .view("last") { wall in wall.card.phone.received.first.map { MomentView(date: $0.receivedAt, now: wall.card.now) }
    },
  ]
}
