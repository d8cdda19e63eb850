import Foundation
import Model
import Mustache
import Simulator
import Store

/// The Overview of a new installation with the simulator.
struct FirstRunView: PageView {
  static let template = "overview/first_run"
  static let section: Section? = .overview

  let phone: PhoneCard
  let hello: FirstRunStep
  let uninstall: FirstRunStep
  /// How many changes of the phones it shows: with the first event the page need not be read once more.
  let changes: Int

  static let fields: [Field<Self>] = [
    .written("changes") { $1.write($0.changes) },
    .view("phone") { $0.phone },
    .view("phone_name") { PhoneName(name: $0.phone.phone.name) },
    .view("hello") { $0.hello },
    .view("uninstall") { $0.uninstall },
    .flag("begins") { !$0.hello.isDone },
    .flag("breaks") { $0.hello.isDone && !$0.uninstall.isDone },
    .flag("ends") { $0.hello.isDone && $0.uninstall.isDone },
  ]
}

/// The argument of texts that name the phone.
struct PhoneName: View {
  let name: String

  static let fields: [Field<Self>] = [.text("name") { $0.name }]
}

/// A step, with what became of its push.
struct FirstRunStep: View {
  let sent: FirstRun.Sent?
  let isNext: Bool
  let result: String?
  /// Cause and remedy of a push that failed.
  let words: ReasonWords?

  init(_ sent: FirstRun.Sent?, isNext: Bool, _ texts: Texts) {
    self.sent = sent
    self.isNext = isNext && sent == nil
    let delivery = sent?.delivery
    words = delivery?.reason.map { ReasonWords(Reason.of($0), texts) }
    result =
      if let delivery, let reason = delivery.reason {
        texts("first_run.failed", ["status": "\(delivery.status)", "reason": reason])
      } else if let delivery {
        texts("first_run.accepted", ["time": texts.duration(milliseconds: delivery.durationMilliseconds)])
      } else {
        sent.map { _ in texts("first_run.sending") }
      }
  }

  var isDone: Bool { sent != nil }

  static let fields: [Field<Self>] = [
    .flag("done") { $0.isDone },
    .flag("next") { $0.isNext },
    .flag("failed") { $0.words != nil },
    .optional("result") { $0.result },
    .view("words") { $0.words },
    .optional("href") { step in
      step.sent.map { sent in
        sent.delivery.map { "/pushes/\(sent.push.uid)/deliveries/\($0.deviceID)" } ?? "/pushes/\(sent.push.uid)"
      }
    },
  ]
}
