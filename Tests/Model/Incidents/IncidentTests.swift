import Foundation
import Model
import Testing

@Suite("Incidents: states and causes")
struct IncidentTests {
  private static let later = Date(timeIntervalSince1970: 1_795_262_400)

  @Test(
    "every event in every state",
    arguments: [
      (IncidentState.open, IncidentEvent.seen, IncidentState?.none, String?.none),
      (.open, .healed, .closed, "incident.heal"), (.open, .snooze(until: later), .snoozed, "incident.snooze"),
      (.open, .close, .closed, "incident.close"), (.open, .reopen, nil, nil),
      (.snoozed, .seen, nil, nil), (.snoozed, .healed, .closed, "incident.heal"),
      (.snoozed, .snooze(until: later), .snoozed, "incident.snooze"),
      (.snoozed, .close, .closed, "incident.close"), (.snoozed, .reopen, .open, "incident.reopen"),
      (.closed, .seen, .open, "incident.return"), (.closed, .healed, nil, nil),
      (.closed, .snooze(until: later), nil, nil), (.closed, .close, nil, nil),
      (.closed, .reopen, .open, "incident.reopen"),
    ])
  func table(state: IncidentState, event: IncidentEvent, next: IncidentState?, action: String?) {
    let found = state.after(event)
    #expect(found?.state == next && found?.action == action)
  }

  @Test(
    "what an outcome means",
    arguments: [
      (OutcomeKind.accepted, "", IncidentCause?.none),
      (.failed, "BadDeviceToken", IncidentCause(.parked, "BadDeviceToken")),
      (.failed, "INVALID_ARGUMENT", IncidentCause(.parked, "INVALID_ARGUMENT")),
      // With a remark it is the message that is refused, not the token.
      (.failed, "INVALID_ARGUMENT (message.data)", IncidentCause(.request, "INVALID_ARGUMENT")),
      (.failed, "PayloadTooLarge", IncidentCause(.request, "PayloadTooLarge")),
      (.failed, "InvalidProviderToken", IncidentCause(.credential, "InvalidProviderToken")),
      (.failed, "BadCertificate", IncidentCause(.credential, "BadCertificate")),
      (.failed, "ServiceUnavailable", IncidentCause(.service, "ServiceUnavailable")),
      (.failed, "JPush 1004", IncidentCause(.credential, "JPush 1004")),
      (.failed, "Expired (ServiceUnavailable)", IncidentCause(.service, "ServiceUnavailable")),
      (.failed, "SomethingNew", IncidentCause(.request, "SomethingNew")),
      (.deadToken, "Unregistered", IncidentCause(.unregistered, "Unregistered")),
      (.deadToken, "ExpiredToken", IncidentCause(.unregistered, "Unregistered")),
      (.deadToken, "UNREGISTERED", IncidentCause(.unregistered, "UNREGISTERED")),
      (.skipped, "NoCredential", IncidentCause(.credential, "NoCredential")),
      (.skipped, "CredentialRefused (ServiceUnavailable)", IncidentCause(.credential, "CredentialRefused")),
      (.skipped, "Expired", IncidentCause(.service, "Expired")),
      (.skipped, "Cancelled", nil), (.skipped, "DryRun", nil), (.skipped, "Quarantined", nil),
      (.failed, "DeviceInactive (TooManyRequests)", nil),
      (.unknown, "TimedOut", IncidentCause(.service, "TimedOut")), (.unknown, "Interrupted", nil),
    ])
  func causes(outcome: OutcomeKind, reason: String, cause: IncidentCause?) {
    #expect(IncidentCause(outcome, reason: reason) == cause)
  }

  @Test("only what keeps everybody from the provider holds up")
  func holdUps() {
    #expect(IncidentCause.holdUp("Unreachable") == IncidentCause(.service, "Unreachable"))
    #expect(IncidentCause.holdUp("ProxyForbidden") == IncidentCause(.service, "ProxyForbidden"))
    #expect(IncidentCause.holdUp("ServiceUnavailable") == IncidentCause(.service, "ServiceUnavailable"))
    // Told only while nothing at all is answered.
    for word in ["Untrusted", "ConnectionLost", "TimedOut", "UnreadableAnswer"] {
      #expect(IncidentCause.holdUp(word) == IncidentCause(.service, word))
    }
    for word in ["TooManyRequests", "Interrupted", "BadDeviceToken"] {
      #expect(IncidentCause.holdUp(word) == nil, "\(word)")
    }
  }

  @Test("many are at least 20 and more than a fifth")
  func many() {
    #expect(!IncidentLimit.isMany(19, of: 19) && IncidentLimit.isMany(20, of: 99))
    #expect(!IncidentLimit.isMany(20, of: 100) && IncidentLimit.isMany(961, of: 964))
    #expect(!IncidentLimit.hasGrown(39, since: 20) && IncidentLimit.hasGrown(40, since: 20))
    #expect(!IncidentLimit.hasGrown(1199, since: 1000) && IncidentLimit.hasGrown(1200, since: 1000))
  }
}
