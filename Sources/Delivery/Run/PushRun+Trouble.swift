import Foundation
import Model
import Providers
import Text

/// What keeps a push from going on.
extension PushRun {
  /// Ends a push early if necessary.
  mutating func endIfDue() {
    guard ending == nil else { return }
    if order == .cancel {
      ending = .cancelled
    } else if let deadline = plan.deadline, deadline <= world.now.wall {
      ending = .expired
    } else {
      for leg in legs.indices where legs[leg].ending == nil {
        if let deadline = deadline(of: leg), deadline <= world.now.steady { legs[leg].ending = .expired }
        // Devices whose request got no answer wait; the trouble lasts as long as they do.
        let waits = legs[leg].flying > 0 || legs[leg].troubleSince != nil && row.waiting > 0
        guard legs[leg].hasRoute, waits, case .failing(let failure) = route(leg).provider else {
          legs[leg].troubleSince = nil
          legs[leg].isTroubleTold = false
          continue
        }
        // No answer since then. A refusal from before this push may be over at its first request.
        let since = legs[leg].troubleSince ?? world.now.steady
        legs[leg].troubleSince = since
        if failure.kind == .credential, world.now.steady - since >= Self.credentialPatience {
          refuse(failure.reason, leg)
        }
      }
    }
  }

  /// Why a service has not answered for longer than a hiccup, once for each time; nil: all is well, or told.
  mutating func untoldTrouble() -> (provider: ProviderKind, reason: String)? {
    for leg in legs.indices where !legs[leg].isTroubleTold && ending(of: leg) == nil {
      guard let since = legs[leg].troubleSince, world.now.steady - since >= CircuitBreaker.patience,
        case .failing(let failure) = route(leg).provider, failure.kind == .connection
      else { continue }
      legs[leg].isTroubleTold = true
      return (legs[leg].provider, failure.code.rawValue)
    }
    return nil
  }

  /// Stops a leg because its credential is not accepted, and raises the alarm.
  mutating func refuse(_ reason: String, _ leg: Int) {
    guard ending(of: leg) == nil else { return }
    legs[leg].ending = RunEnding(
      reason: .credentialRefused, state: .finished,
      error: "The push service refused the credential: \(reason.withoutFullStop). \(Reason.of(reason).remedy)")
    act(.alarm(reason, legs[leg].provider))
  }
}
