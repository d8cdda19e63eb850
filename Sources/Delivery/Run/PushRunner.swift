import Foundation
import Logging
import Providers
import Model
import SQLite
import Store

/// Runs one push: executes the actions of a ``PushRun`` with the store, the provider and the clock, and returns the
/// answers.
actor PushRunner {
  /// The dependencies of a run.
  struct Tools: Sendable {
    let store: PatientStore
    let routes: any RouteFinder
    let clock: @Sendable () -> Date
    /// Monotonic seconds, independent of the clock setting.
    let steady: @Sendable () -> TimeInterval
    /// Waits until a time, or shorter.
    let sleep: @Sendable (Date) async throws -> Void
    let policy: RetryPolicy
    let shares: FairShare
    let leaps: LeapWatch
    /// Records which devices a push has been sent to; nil: no trail.
    let trail: Trail?
    let log: Logger
    let report: @Sendable (SendReport) -> Void
    let publish: @Sendable (PushProgress) -> Void
  }

  let tools: Tools
  let id: Int64
  private let control: RunControl
  private let waker: Waker
  private var route: Route?
  /// The push as encoded by the route's provider.
  private var prepared: (any PreparedPush)?
  /// The credential whose window this push shares.
  private var sharedCredential: Int64?

  init(_ id: Int64, tools: Tools, control: RunControl) {
    self.id = id
    self.tools = tools
    self.control = control
    waker = Waker(sleep: tools.sleep, wake: { control.inbox.nudge() })
  }

  /// Sends until every device has an outcome, or until a paused push has settled.
  ///
  /// - Throws: errors of the store; the push then keeps its state and is resumed later.
  func carryOut() async throws {
    defer {
      waker.cancel()
      share(nil)
    }
    guard let opened = try await open() else { return }
    var run = PushRun(opened.plan, opened.row, nextDue: opened.nextDue, world: world())
    var actions = run.begin()
    do {
      while let event = try await perform(actions, opened) {
        let world = world()
        actions = run.handle(event, world)
      }
    } catch {
      // Nobody receives the results of devices that are not sent yet.
      route?.provider.cancel(push: id)
      throw error
    }
  }

  // MARK: Actions

  private func world() -> RunWorld {
    let leapt = tools.leaps.total()
    let now = Moment(wall: tools.clock(), steady: tools.steady())
    let health = route?.provider.health(at: now.wall) ?? ProviderHealth()
    return RunWorld(
      now: now, order: control.order, isStopping: control.isStopping, isInterrupted: control.isInterrupted,
      leapt: leapt,
      share: tools.shares.share(credential: route?.credentialID ?? 0, least: PushRun.pageSize, limit: health.limit),
      health: health, provider: route?.provider.state ?? .ready)
  }

  /// - Returns: the answer to the question among the actions; nil without a question, which ends the run.
  private func perform(_ actions: [RunAction], _ opened: Opened) async throws -> RunEvent? {
    for action in actions {
      switch action {
      case .publish(let progress): tools.publish(progress)
      case .send(let members, let places): send(members, places)
      case .cancelQueued: route?.provider.cancel(push: id)
      case .reconnect: route?.provider.reconnect()
      case .forgetRoute: (route, prepared) = (nil, nil)
      case .returnPlaces(let places): tools.trail?.giveBack(places)
      case .alarm(let reason):
        tools.log.error(
          "credential refused; pushes that need it are blocked",
          ["push": opened.uid, "credential": route?.credentialID ?? 0, "reason": reason])
      case .reserve(let count): return .reserved(tools.trail?.take(atMost: count) ?? [])
      case .findRoute: return try await findRoute(opened)
      case .store(let task):
        return try await answer(task, opened.query, credential: route?.credentialID ?? 0, now: tools.clock())
      case .wait(let date):
        if let date { waker.arm(date) } else { control.inbox.nudge() }
        return .results(await control.inbox.take())
      }
    }
    return nil
  }

  private func findRoute(_ opened: Opened) async throws -> RunEvent {
    do {
      let route = try await route(opened)
      self.route = route
      prepared = opened.push.map { route.provider.prepare($0) }
      share(route.credentialID)
      return .routeFound
    } catch let problem where !(problem is SQLiteError) {
      return .routeMissing("\(problem)", (problem as? NoRoute)?.reason ?? .credentialUnusable)
    }
  }

  private func route(_ opened: Opened) async throws -> Route {
    if opened.isDryRun { return DryProvider.route(report: tools.report) }
    let tools = tools
    return try await tools.store.insist {
      try await tools.routes.route(app: opened.app, environment: opened.environment, report: tools.report)
    }
  }

  private func share(_ credential: Int64?) {
    guard credential != sharedCredential else { return }
    if let sharedCredential { tools.shares.leave(credential: sharedCredential, push: id) }
    if let credential { tools.shares.join(credential: credential, push: id) }
    sharedCredential = credential
  }

  private func send(_ members: [AudienceMember], _ places: [Int32]?) {
    guard let route, let prepared else { return }
    var devices: [ProviderDevice] = []
    devices.reserveCapacity(members.count)
    var reachedPlaces: [Int32] = []
    var others: [Inbox.Item] = []
    for (index, member) in members.enumerated() {
      if route.platforms.contains(member.platform) {
        devices.append(ProviderDevice(id: member.id, token: member.token))
        if let places { reachedPlaces.append(places[index]) }
      } else {
        others.append(Inbox.Item(device: member.id, result: .notSent(reason: OwnReason.noProvider.rawValue)))
      }
    }
    if !devices.isEmpty {
      let notes = places.flatMap { _ in tools.trail?.notes(push: id, places: reachedPlaces) }
      prepared.send(devices, noting: notes)
    }
    // Devices of a platform without a provider get an outcome too.
    control.inbox.add(others)
  }
}
