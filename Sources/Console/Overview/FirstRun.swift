import Delivery
import Foundation
import HTTPServer
import Model
import Reactor
import SQLite
import Simulator
import Store

/// The first steps on a new installation with the simulator: a push that arrives, and one that does not, each by one
/// click on the Overview. They go once another push was sent, or by a button.
struct FirstRun: Sendable {
  /// A push that a button sends.
  enum Step: String, Sendable { case hello, uninstall }

  /// A step's last push, with the delivery to the phone once there is one.
  struct Sent: Sendable {
    let push: Push
    let delivery: Delivery?
  }

  private static let key = "first_run"
  private static let hidden = "hidden"
  /// With more pushes than this the steps are not shown.
  private static let longest = 10

  let hello: Sent?
  let uninstall: Sent?

  /// Nil if the steps are over.
  static func find(_ database: Database) throws -> FirstRun? {
    let kept = try Setting.find(database, key) ?? ""
    guard kept != hidden else { return nil }
    let own = pushes(kept)
    let latest = try Push.list(database, PushFilter(), limit: longest + 1).items
    guard latest.allSatisfy({ push in own.contains { $0.uid == push.uid } }) else { return nil }
    func last(_ step: Step) throws -> Sent? {
      guard let uid = own.last(where: { $0.step == step })?.uid, let push = try Push.find(database, uid: uid) else {
        return nil
      }
      return Sent(push: push, delivery: try Delivery.list(database, push: push.id, limit: 1).items.first?.delivery)
    }
    return FirstRun(hello: try last(.hello), uninstall: try last(.uninstall))
  }

  private static func pushes(_ kept: String) -> [(step: Step, uid: String)] {
    kept.split(separator: " ").compactMap { part in
      let words = part.split(separator: "=", maxSplits: 1)
      guard words.count == 2, let step = Step(rawValue: String(words[0])) else { return nil }
      return (step, String(words[1]))
    }
  }

  private static func keep(_ database: Database, _ step: Step, _ push: Push) throws {
    let others = pushes(try Setting.find(database, key) ?? "").suffix(longest)
    let words = others.map { "\($0.step.rawValue)=\($0.uid)" } + ["\(step.rawValue)=\(push.uid)"]
    try Setting.set(database, key, words.joined(separator: " "))
  }
}

/// `POST /first-run`: the buttons of the steps.
extension FirstRun {
  /// The phone that the steps use.
  static func phone(_ simulator: PushSimulator) -> SimulatedPhone? {
    simulator.phones.phones().first { $0.platform == .ios && $0.environment == .development }
  }

  static func take(_ page: PageContext) async throws -> Response {
    if page.form["step"] == hidden {
      try await page.store.write { try Setting.set($0, key, hidden) }
      return page.redirect(to: "/")
    }
    guard let step = Step(rawValue: page.form["step"]) else { throw PageError(.unprocessableContent, "refused") }
    guard let simulator = page.console.simulator, let phone = phone(simulator) else {
      throw PageError(.conflict, "no_simulator")
    }
    // Repeated, a step begins with the app on the phone.
    if phone.power == .off { try simulator.phones.setPower(phone.id, .on) }
    if phone.state != .installed {
      try await PhonePages.register(try simulator.phones.reinstall(phone.id, now: page.now), inPlaceOf: phone, page)
    }
    guard let installed = simulator.phones.phone(phone.id) else { throw PageError.notFound("phone", list: "/phones") }
    if step == .uninstall {
      // An uninstall in the moment of the registration would be taken for that of the token's former life.
      try simulator.phones.uninstall(phone.id, now: page.now.addingTimeInterval(0.001))
    }
    var rule = Audience.Rule()
    rule.deviceToken = [installed.token]
    var draft = PushDraft(
      app: phone.topic, environment: phone.environment, platforms: [.ios], audience: .rule(rule),
      notification: PushNotification())
    draft.notification.title = page.texts("first_run.title")
    draft.notification.body = page.texts("first_run.body")
    let order = PushIntake.Order(
      draft, source: .web, by: page.actor, person: page.user?.id, from: page.clientAddress, now: page.now)
    if case .push(let push) = try await page.console.intake.take(order) {
      try await page.store.write { try keep($0, step, push) }
      // Wait briefly so that the page shows the result; a slow push appears at the next reload.
      try await page.console.wait(for: [push])
    }
    return page.redirect(to: "/")
  }
}
