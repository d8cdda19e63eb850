import Foundation
import Providers
import Model
import Store

/// What surrounds a run when something happens to it.
struct RunWorld: Sendable {
  var now: Moment
  /// What people want, as this process knows it.
  var order = RunControl.Order.go
  /// The process ends: do not sit and wait for a time that is far off.
  var isStopping = false
  /// The process has no more time: hand out nothing more.
  var isInterrupted = false
  /// By how many seconds the clock was set since the process began.
  var leapt: TimeInterval = 0
  /// How many devices of this push may be under way.
  var share: Int
  var health = ProviderHealth()
  var provider = ProviderState.ready
}

/// What happens to a run: each answers the question that the run asked last.
enum RunEvent: Sendable {
  /// Places in the trail, as many as there were.
  case reserved([Int32])
  case routeFound
  /// No provider can be used; in words for people, and as the outcome of each device.
  case routeMissing(String, OwnReason)
  case row(RunRow)
  case waits(RunRow, nextDue: Date?)
  case nextDue(Date?)
  case members([AudienceMember])
  case due([WaitingDelivery.Due])
  /// What came of devices under way; empty: something else is to be looked at.
  case results([Inbox.Item])
}

/// What a run wants done. A list of actions ends with one question, or with none: then the run is over.
enum RunAction: Sendable {
  // Done at once; nothing comes back.
  case publish(PushProgress)
  /// `places` in the trail, one for each; nil: there is none.
  case send([AudienceMember], places: [Int32]?)
  case cancelQueued
  case reconnect
  case forgetRoute
  case returnPlaces([Int32])
  /// The provider refuses the credential, for a reason.
  case alarm(String)

  // Questions.
  case reserve(Int)
  case findRoute
  case store(RunTask)
  /// Waits for results until a time; nil: takes those that are there.
  case wait(until: Date?)
}

/// What a run asks of the store.
enum RunTask: Sendable {
  // Answered with `row`.
  case reload
  case followTrail
  case setTrail(Int64)
  case setHandedOut(Int64)
  case setAllReturned(upTo: Int64)
  /// Marks waiting devices as under way.
  case take([Int64])
  case record(RunResults)
  case end(PushState, error: String?)
  case finish

  // Answered with `waits`.
  /// The clock was set by so many seconds.
  case shift(TimeInterval)
  case countRepeats

  // Answered with `nextDue`, `members` and `due`.
  case nextDue(after: Date)
  case page(after: Int64, upTo: Int64, limit: Int, withoutDeliveries: Bool)
  case due(limit: Int)
  case allWaiting(limit: Int)
  case interrupted(limit: Int)
}

/// Results to be kept in one transaction.
struct RunResults: Sendable {
  var results: [DeliveryResult] = []
  var waiting: [WaitingDelivery] = []
  var repeats = Push.Repeats()
  var verdicts: [Credential.Verdict] = []
  var cursor: Int64 = 0
  /// Up to which device may be handed out before the next results are kept; nil: as it is.
  var foreseen: Int64?

  var isEmpty: Bool { results.isEmpty && waiting.isEmpty }
}
