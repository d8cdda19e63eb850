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
  /// How the devices of one service are reached. A push to Android devices of both environments has a lane for each
  /// that has a credential.
  private struct Way {
    struct Lane {
      let environment: Environment
      let route: Route
      /// The push as encoded by the route's provider.
      let prepared: (any PreparedPush)?
    }

    /// At least one; the first is for all devices that have none of their own.
    let lanes: [Lane]
    var route: Route { lanes[0].route }

    func lane(of member: AudienceMember) -> Int { lanes.firstIndex { $0.environment == member.environment } ?? 0 }
  }

  private var ways: [ProviderKind: Way] = [:]
  /// The credentials whose windows this push shares.
  private var shared: [ProviderKind: Int64] = [:]

  init(_ id: Int64, tools: Tools, control: RunControl) {
    (self.id, self.tools, self.control) = (id, tools, control)
    waker = Waker(sleep: tools.sleep, wake: { control.inbox.nudge() })
  }

  /// Sends until every device has an outcome, or until a paused push has settled.
  ///
  /// - Throws: errors of the store; the push then keeps its state and is resumed later.
  func carryOut() async throws {
    defer {
      waker.cancel()
      for provider in shared.keys { share(nil, provider) }
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
      for way in ways.values { for lane in way.lanes { lane.route.provider.cancel(push: id) } }
      tools.trail?.abandon(push: id)
      throw error
    }
  }

  // MARK: Actions

  private func world() -> RunWorld {
    let leapt = tools.leaps.total()
    let now = Moment(wall: tools.clock(), steady: tools.steady())
    var world = RunWorld(
      now: now, order: control.order, isStopping: control.isStopping, isInterrupted: control.isInterrupted,
      leapt: leapt)
    for (provider, way) in ways {
      let all = way.lanes.map { (lane: $0, health: $0.route.provider.health(at: now.wall)) }
      // The lanes share one leg, which goes as the one does that is in trouble.
      guard let first = all.first, let (lane, health) = all.first(where: { !$0.health.isWell }) ?? all.first else {
        continue
      }
      world.routes[provider] = RouteWorld(
        share: tools.shares.share(
          credential: first.lane.route.credentialID, least: PushRun.pageSize, limit: health.limit),
        health: health, provider: lane.route.provider.state)
    }
    return world
  }

  /// - Returns: the answer to the question among the actions; nil without a question, which ends the run.
  private func perform(_ actions: [RunAction], _ opened: Opened) async throws -> RunEvent? {
    for action in actions {
      switch action {
      case .publish(let progress): tools.publish(progress)
      case .send(let members, let provider, let places): send(members, provider, places)
      case .cancelQueued(let provider):
        for lane in ways[provider]?.lanes ?? [] { lane.route.provider.cancel(push: id) }
      case .reconnect(let provider): for lane in ways[provider]?.lanes ?? [] { lane.route.provider.reconnect() }
      case .forgetRoute(let provider): ways[provider] = nil
      case .returnPlaces(let places): tools.trail?.giveBack(places)
      case .alarm(let reason, let provider):
        tools.log.error(
          "credential refused; pushes that need it are blocked",
          ["push": opened.uid, "credential": ways[provider]?.route.credentialID ?? 0, "reason": reason])
      case .reserve(let count): return .reserved(tools.trail?.take(atMost: count, for: id) ?? [])
      case .findRoute(let provider): return try await findRoute(opened, provider)
      case .store(let task):
        return try await answer(task, opened, credentials: ways.mapValues(\.route.credentialID), now: tools.clock())
      case .wait(let date):
        if let date { waker.arm(date) } else { control.inbox.nudge() }
        return .results(await control.inbox.take())
      }
    }
    return nil
  }

  private func findRoute(_ opened: Opened, _ provider: ProviderKind) async throws -> RunEvent {
    do {
      let lanes = try await routes(opened, provider).map { environment, route in
        Way.Lane(
          environment: environment, route: route, prepared: opened.push.map { route.provider.prepare($0) })
      }
      let way = Way(lanes: lanes)
      ways[provider] = way
      share(way.route.credentialID, provider)
      return .routeFound
    } catch let problem where !(problem is SQLiteError) {
      return .routeMissing("\(problem)", (problem as? NoRoute)?.reason ?? .credentialUnusable)
    }
  }

  /// The routes to the devices of a service; at least one.
  private func routes(
    _ opened: Opened, _ provider: ProviderKind
  ) async throws -> [(environment: Environment, route: Route)] {
    if opened.isDryRun { return [(opened.environment, DryProvider.route(report: tools.report))] }
    let (environment, other) = (opened.environment, opened.environment.other)
    guard opened.query?.anyAndroid == true, !provider.tellsEnvironments else {
      return [(environment, try await route(opened, environment, provider))]
    }
    var found: [(environment: Environment, route: Route)] = []
    var missing: NoRoute?
    for environment in [environment, other] {
      do {
        found.append((environment, try await route(opened, environment, provider)))
      } catch let problem as NoRoute where problem.reason == .noCredential {
        // One credential serves both: neither service tells the environments of Android apart.
        missing = missing ?? problem
      }
    }
    if let missing, found.isEmpty { throw missing }
    return found
  }

  private func route(_ opened: Opened, _ environment: Environment, _ provider: ProviderKind) async throws -> Route {
    let tools = tools
    return try await tools.store.insist {
      try await tools.routes.route(
        app: opened.app, environment: environment, provider: provider, report: tools.report)
    }
  }

  private func share(_ credential: Int64?, _ provider: ProviderKind) {
    guard credential != shared[provider] else { return }
    if let present = shared[provider] { tools.shares.leave(credential: present, push: id) }
    if let credential { tools.shares.join(credential: credential, push: id) }
    shared[provider] = credential
  }

  private func send(_ members: [AudienceMember], _ provider: ProviderKind, _ places: [Int32]?) {
    guard let way = ways[provider] else { return }
    guard way.lanes.count > 1 else { return send(members, way.lanes[0], places) }
    let lanes = Dictionary(grouping: members.indices) { way.lane(of: members[$0]) }
    for (lane, indices) in lanes.sorted(by: { $0.key < $1.key }) {
      send(indices.map { members[$0] }, way.lanes[lane], places.map { places in indices.map { places[$0] } })
    }
  }

  private func send(_ members: [AudienceMember], _ lane: Way.Lane, _ places: [Int32]?) {
    guard let prepared = lane.prepared else { return }
    let notes = places.flatMap { tools.trail?.notes(push: id, places: $0) }
    prepared.send(
      members.map {
        ProviderDevice(
          id: $0.id, token: $0.token, platform: $0.platform, badge: $0.badge, variant: $0.variant ?? 0,
          firstAt: $0.firstAt)
      }, noting: notes)
  }
}
