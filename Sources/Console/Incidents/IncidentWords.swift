import Foundation
import Model
import Store

/// An incident in words.
struct IncidentWords {
  let incident: Incident
  /// Nil if the app is being removed.
  let app: AppOverview?
  let texts: Texts
  let now: Date

  /// What happened, as “842 missed deliveries in 1 push”: a device that several pushes missed counts for each of them.
  var heading: String {
    switch incident.cause.kind {
    case .unregistered:
      return texts("incidents.unregistered", count: unreachable, ["all": all.grouped])
    case .parked where countsUnreachable:
      return texts("incidents.parked", count: unreachable, ["all": all.grouped])
    case _ where incident.devices == 0:
      return texts(incident.holdsUp ? "incidents.held_up" : "incidents.was_held_up", count: incident.pushes)
    default:
      return texts(
        "incidents.missed", count: incident.pushes,
        ["deliveries": texts("incidents.deliveries", count: incident.devices)])
    }
  }

  /// Why, in one line.
  var cause: String { texts.cause(Reason.of(incident.cause.reason)).firstSentence.first }

  /// Parked or unregistered devices of the place, now; 0 for other kinds.
  var unreachable: Int {
    switch incident.cause.kind {
    case .parked: count(.quarantined)
    case .unregistered: count(.dead)
    case .credential, .service, .request: 0
    }
  }

  /// The devices of the place.
  var all: Int { count(nil) }

  private func count(_ state: DeviceState?) -> Int {
    app?.count(environment: incident.place.environment, provider: incident.place.provider, state: state) ?? 0
  }

  var state: String { texts("incidents.states.\(incident.state(at: now).rawValue)") }

  var tone: String {
    switch incident.state(at: now) {
    case .open: "red"
    case .snoozed: "amber"
    case .closed: ""
    }
  }

  /// As “Shop, production”.
  var place: String {
    (app?.app.name ?? "") + texts("words.in_\(incident.place.environment.rawValue)")
  }

  /// What became of it, and when it ends by itself.
  var lead: String {
    let kind = incident.cause.isMissingCredential ? "no_credential" : incident.cause.kind.rawValue
    let ends = texts("incidents.ends.\(kind)")
    switch incident.state(at: now) {
    case .open: return ends
    case .snoozed:
      return [texts("incidents.until", ["time": incident.snoozedUntil.map(texts.minute) ?? ""]), ends].sentences
    case .closed where incident.hasHealed: return texts("incidents.healed.\(kind)")
    case .closed:
      return texts("incidents.closed_by", ["name": incident.closedBy ?? "", "remark": incident.remark ?? ""])
    }
  }

  /// For the Overview.
  var attention: AttentionItem {
    AttentionItem(
      label: number.grouped, isFailure: true, text: texts.labelled(place, heading), detail: cause,
      href: "/incidents/\(incident.id)", action: texts("attention.show"))
  }

  /// The number that the heading is about: devices, or pushes if no device is known to be missed.
  private var number: Int {
    countsUnreachable ? unreachable : incident.devices > 0 ? incident.devices : incident.pushes
  }

  /// Whether the heading counts the devices that are parked or unregistered now.
  private var countsUnreachable: Bool {
    switch incident.cause.kind {
    case .unregistered: true
    case .parked: IncidentLimit.isMany(unreachable, of: all) || incident.pushes == 0
    case .credential, .service, .request: false
    }
  }

  /// Where the cause is mended.
  var remedy: LinkView? {
    let devices =
      "/devices?app=\(ConsoleRouter.escaped(app?.app.bundleID ?? ""))"
      + "&environment=\(incident.place.environment.rawValue)&state="
    return switch incident.cause.kind {
    case .credential: LinkView(href: "/apps/\(incident.place.app)", label: texts("push.action_app"))
    case .parked where unreachable > 0:
      LinkView(href: devices + "quarantined", label: texts("push.action_devices"))
    case .unregistered where unreachable > 0:
      LinkView(href: devices + "dead", label: texts("incidents.show_unregistered"))
    case .parked, .unregistered, .service, .request: nil
    }
  }
}
