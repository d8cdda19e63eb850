import Foundation
import Providers
import Model
import Store

/// The circumstances of an event.
struct RunWorld: Sendable {
  var now: Moment
  /// The order of this process.
  var order = RunControl.Order.go
  /// The process is shutting down: do not wait for a distant time.
  var isStopping = false
  /// The process has no time left: send nothing more.
  var isInterrupted = false
  /// Seconds by which the clock was changed since the process started.
  var leapt: TimeInterval = 0
  /// The routes found so far.
  var routes: [ProviderKind: RouteWorld] = [:]
}

/// The limits and the state of one service's route.
struct RouteWorld: Sendable {
  /// The devices of this push that may be in flight.
  var share: Int
  var health = ProviderHealth()
  var provider = ProviderState.ready
}

/// An event; each answers the run's last question.
enum RunEvent: Sendable {
  /// Free places in the trail, possibly fewer than asked for.
  case reserved([Int32])
  case routeFound
  /// No provider can be used: the reason as text, and as each device's outcome.
  case routeMissing(String, OwnReason)
  case row(RunRow)
  case waits(RunRow, nextDue: Date?)
  case nextDue(Date?)
  case members([AudienceMember])
  case due([WaitingDelivery.Due])
  /// Results of devices in flight; empty: look at the state.
  case results([Inbox.Item])
}

/// An action of a run. A list of actions ends with one question, or with none if the run is over.
enum RunAction: Sendable {
  // No answer expected.
  case publish(PushProgress)
  /// Devices of one service; `places` in the trail, one per device; nil: without a trail.
  case send([AudienceMember], ProviderKind, places: [Int32]?)
  case cancelQueued(ProviderKind)
  case reconnect(ProviderKind)
  case forgetRoute(ProviderKind)
  case returnPlaces([Int32])
  /// The provider refuses the credential.
  case alarm(String, ProviderKind)

  // Questions.
  case reserve(Int)
  case findRoute(ProviderKind)
  case store(RunTask)
  /// Waits for results until a time; nil: takes those that are there.
  case wait(until: Date?)
}

/// A run's questions to the store.
enum RunTask: Sendable {
  // Answered with `row`.
  case reload
  case followTrail
  case setTrail(Int64)
  /// Devices up to this ID may be sent to: those of a service, or all (nil).
  case setHandedOut(Int64, ProviderKind?)
  case setAllReturned(upTo: Int64)
  /// Marks waiting devices as in flight.
  case take([Int64])
  case record(RunResults)
  case end(PushState, error: String?)
  case finish

  // Answered with `waits`.
  /// The clock was changed by this many seconds.
  case shift(TimeInterval)
  case countRepeats

  // Answered with `nextDue`, `members` and `due`; of one service, or of all (nil).
  case nextDue(after: Date, ProviderKind?)
  case page(after: Int64, upTo: Int64, limit: Int, ProviderKind?, withoutDeliveries: Bool)
  /// Also devices that have their outcome or wait, marked.
  case markedPage(after: Int64, upTo: Int64, limit: Int, ProviderKind)
  case due(at: Date, limit: Int, ProviderKind)
  case allWaiting(limit: Int, ProviderKind)
  case interrupted(limit: Int)
}

/// Results that are stored in one transaction.
struct RunResults: Sendable {
  var results: [DeliveryResult] = []
  var waiting: [WaitingDelivery] = []
  var repeats = Push.Repeats()
  /// JPush's messages.
  var messages: [SentJPushMessage] = []
  /// Of FCM's messages, by device.
  var names: [Int64: String] = [:]
  /// What the services answered, by device.
  var answers: [Int64: KeptAnswer] = [:]
  /// On the credentials of the routes.
  var verdicts: [(provider: ProviderKind, verdict: Credential.Verdict)] = []
  /// Why devices wait, by service; each once.
  var holdUps: [(provider: ProviderKind, reason: String)] = []
  var cursor: Int64 = 0
  /// Of the services that name them after a restart (``RunPlan/cursors``).
  var cursors: [ProviderKind: Int64] = [:]
  /// The last device that may be sent to before the next results are stored; nil: unchanged.
  var foreseen: Int64?

  var isEmpty: Bool { results.isEmpty && waiting.isEmpty }
}
