import Foundation
import HTTPServer
import JSON
import Model
import Mustache
import Simulator
import Text

/// `/phones/requests`: what reached the simulated services, refused requests included, each with its answer.
enum PhoneRequests {
  static let path = "/phones/requests"
  private static let pageLimit = 50

  static func show(_ page: PageContext) async throws -> Response {
    guard let simulator = page.console.simulator else { return page.answer(NoPhonesView()) }
    let texts = page.texts
    let all = simulator.requests.requests(RequestQuery())
    let outcome = page.filled("outcome").flatMap(CaughtRequest.Outcome.init)
    let wanted = outcome.map { outcome in all.filter { $0.outcome == outcome } } ?? all
    let before = page.filled("before").flatMap(Int64.init) ?? .max
    let rest = wanted.drop { $0.id >= before }
    let listed = rest.prefix(pageLimit)
    let number = page.filled("request").flatMap(Int64.init)
    let chosen = all.first { $0.id == number } ?? listed.first
    let names = Dictionary(simulator.phones.phones().map { ($0.id, $0.name) }) { $1 }
    func href(_ outcome: CaughtRequest.Outcome?, request: Int64? = nil, before: Int64? = nil) -> String {
      let parts = [
        outcome.map { "outcome=\($0.rawValue)" }, request.map { "request=\($0)" }, before.map { "before=\($0)" },
      ].compactMap(\.self)
      return parts.isEmpty ? path : "\(path)?\(parts.joined(separator: "&"))"
    }
    let tabs = [
      PhoneTab(href: href(nil), label: texts("caught.all"), isCurrent: outcome == nil, count: all.count)
    ]
    let found = CaughtRequest.Outcome.allCases.compactMap { one -> PhoneTab? in
      let count = all.count { $0.outcome == one }
      guard count > 0 || one == outcome else { return nil }
      return PhoneTab(href: href(one), label: one.word(texts), isCurrent: one == outcome, count: count)
    }
    return page.answer(
      PhoneRequestsView(
        tabs: tabs + found,
        rows: listed.map { one in
          CaughtRow(
            request: one, href: href(outcome, request: one.id, before: before == .max ? nil : before) + "#request",
            isCurrent: one.id == chosen?.id, texts: texts, now: page.now)
        },
        older: rest.count > pageLimit ? listed.last.map { href(outcome, before: $0.id) } : nil,
        chosen: chosen.map { CaughtView($0, names, texts, now: page.now) }))
  }
}

extension CaughtRequest.Outcome {
  func word(_ texts: Texts) -> String { texts("caught.outcome_\(rawValue)") }
}

struct PhoneRequestsView: PageView {
  static let template = "phones/requests"
  static let section: Section? = .phones

  let tabs: [PhoneTab]
  let rows: [CaughtRow]
  let older: String?
  let chosen: CaughtView?

  static let fields: [Field<Self>] = [
    .list("tabs") { $0.tabs },
    .list("rows") { $0.rows },
    .flag("has_rows") { !$0.rows.isEmpty },
    .optional("older") { $0.older },
    .view("chosen") { $0.chosen },
  ]
}

/// A request in the list.
struct CaughtRow: View {
  let request: CaughtRequest
  let href: String
  let isCurrent: Bool
  let texts: Texts
  let now: Date

  /// Title or text of the notification, or what was called.
  private var heading: String {
    let alert = request.alert
    return [alert.title, alert.body].lazy.compactMap(\.self).first { !$0.isEmpty }
      ?? "\(request.method) \(request.target.abbreviated(to: 80))"
  }

  static let fields: [Field<Self>] = [
    .text("href") { $0.href },
    .flag("current") { $0.isCurrent },
    .text("heading") { $0.heading },
    .text("server") { $0.request.server.word($0.texts) },
    .text("outcome") { row in
      [row.request.outcome.word(row.texts), row.request.reason].compactMap(\.self).joined(separator: " · ")
    },
    .flag("refused") { $0.request.outcome == .refused },
    .flag("unseen") { [.noPhone, .lost, .unanswered].contains($0.request.outcome) },
    .text("status") { row in row.request.status.map(String.init) ?? row.texts("caught.no_answer") },
    .view("at") { MomentView(date: $0.request.at, now: $0.now) },
  ]
}

/// The chosen request: what became of it, the request and the answer.
struct CaughtView: View {
  let facts: [FactView]
  let request: String
  let answer: String

  static let fields: [Field<Self>] = [
    .list("facts") { $0.facts },
    .text("request") { $0.request },
    .text("answer") { $0.answer },
  ]
}

extension CaughtView {
  /// - Parameter names: of the phones, by ID.
  init(_ one: CaughtRequest, _ names: [Int64: String], _ texts: Texts, now: Date) {
    let reason = one.reason.map { code in code.hasPrefix("JPush ") ? code : Reason.head(code) }
    let tokens = one.tokens
    self.init(
      facts: [
        FactView(texts("caught.at"), at: one.at, now: now),
        FactView(texts("phones.server"), one.server.word(texts)),
        FactView(texts("caught.outcome"), one.outcome.word(texts)),
        FactView(
          texts("caught.reason"), one.reason,
          href: reason.flatMap { Reason.listed($0) }.map { "/codes/\(ConsoleRouter.escaped($0.code))" }),
        FactView(texts("caught.fault"), one.isFault ? texts("caught.fault_yes") : nil),
        FactView(texts("caught.token"), tokens.prefix(3).joined(separator: ", "), isMono: true),
        FactView(
          texts("phones.phone"), texts.list(one.phones.prefix(3).compactMap { names[$0] }),
          href: one.phones.first.map { "/phones?phone=\($0)" }),
      ].compactMap(\.self),
      request: Self.text(
        "\(one.method) \(one.target)", one.fields,
        one.json?.text(pretty: true) ?? String(decoding: one.body, as: UTF8.self)),
      answer: one.status.map { status in
        Self.text("HTTP \(status)", one.answerFields, String(decoding: one.answerBody, as: UTF8.self))
      } ?? texts("caught.no_answer"))
  }

  private static func text(_ line: String, _ fields: [CaughtRequest.Field], _ body: String) -> String {
    ([line] + fields.map { "\($0.name): \($0.value)" } + (body.isEmpty ? [] : ["", body])).joined(separator: "\n")
  }
}
