import Certificates
import Delivery
import Foundation
import JSON
import Providers
import Model
import Store
import Synchronization
import TestSupport

/// Routes for every credential of a store, whose provider answers as a test says: at first it takes everything.
final class ScriptedProvider: RouteFinder {
  /// What becomes of a device; nil: nothing yet, until the next ``answer(_:)`` or the push is cancelled.
  typealias Script = @Sendable (ProviderDevice) -> SendResult?

  private struct State {
    var sent: [Int64] = []
    var verdict = ProviderVerdict.taken(answer: "400 BadDeviceToken")
    var tried: [String] = []
    var refreshed = 0
    var health: ProviderHealth?
    /// The channels that Apple has, of every app.
    var channels: [String: ChannelPolicy] = [:]
    var channelRefusal: ServiceRefusal?
    var jpush: (@Sendable (JPushOperation) throws -> JSONValue)?
    var validation: Result<SendResult?, any Error> = .success(nil)
    var topics: (@Sendable (DeviceToken) -> TopicResult)? = { _ in .done }
  }

  private let store: Store
  private let state = Mutex(State())
  private let answers = ScriptedAnswers<ProviderDevice, SendResult> { _ in .outcome(.accepted) }

  init(store: Store) { self.store = store }

  /// The ids of the devices that anything was sent to, in order.
  var sent: [Int64] { state.withLock { $0.sent } }

  /// Answers trials like this from now on.
  func answerTrials(_ verdict: ProviderVerdict) { state.withLock { $0.verdict = verdict } }

  /// The topics and environments that something was tried for.
  var tried: [String] { state.withLock { $0.tried } }

  /// How often it was told that credentials were changed.
  var refreshed: Int { state.withLock { $0.refreshed } }

  func attempt(_ trial: CredentialTrial) async -> ProviderVerdict {
    state.withLock { state in
      state.tried.append("\(trial.topic) \(trial.credential.environment.rawValue)")
      return state.verdict
    }
  }

  /// Refuses every request about channels from now on; nil: none.
  func refuseChannels(_ refusal: ServiceRefusal?) { state.withLock { $0.channelRefusal = refusal } }

  /// Adds a channel at Apple that nobody here knows.
  func addChannel(_ id: String) { state.withLock { $0.channels[id] = .storesLatest } }

  func ask(_ request: ChannelRequest, app: App, environment: Model.Environment) async throws -> ChannelReply {
    let result = state.withLock { state -> Result<ChannelReply, ServiceRefusal> in
      if let refusal = state.channelRefusal { return .failure(refusal) }
      let missing = ServiceRefusal(status: 400, reason: "ChannelNotRegistered")
      switch request {
      case .create(let policy):
        let id = Data("channel-\(state.channels.count)".utf8).base64EncodedString()
        state.channels[id] = policy
        return .success(.created(id))
      case .read(let id): return state.channels[id].map { .success(.policy($0)) } ?? .failure(missing)
      case .delete(let id):
        return state.channels.removeValue(forKey: id) == nil ? .failure(missing) : .success(.deleted)
      case .list: return .success(.channels(state.channels.keys.sorted()))
      }
    }
    return try result.get()
  }

  /// Answers like this for JPush from now on; nil: there are no keys.
  func answerJPush(_ script: (@Sendable (JPushOperation) throws -> JSONValue)?) {
    state.withLock { $0.jpush = script }
  }

  func ask(_ operation: JPushOperation, app: Int64, environment: Model.Environment) async throws -> JSONValue {
    guard let script = state.withLock({ $0.jpush }) else {
      throw NoRoute("The app has no credential for JPush. Assign its keys on the app's page.", .noCredential)
    }
    return try script(operation)
  }

  /// What every service says of a push that it is to check.
  func answerValidation(_ result: SendResult?) { state.withLock { $0.validation = .success(result) } }

  /// No service can be asked from now on.
  func failValidation(_ error: any Error) { state.withLock { $0.validation = .failure(error) } }

  func validate(
    _ push: ProviderPush, _ devices: [ProviderDevice], app: Int64, environment: Model.Environment,
    provider: ProviderKind
  ) async throws -> SendResult? { try state.withLock { $0.validation }.get() }

  /// Answers like this about topics from now on; nil: there is no service account.
  func answerTopics(_ script: (@Sendable (DeviceToken) -> TopicResult)?) { state.withLock { $0.topics = script } }

  func change(
    _ batches: [TopicBatch], app: Int64, environment: Model.Environment
  ) async throws -> [[TopicResult]] {
    guard let script = state.withLock({ $0.topics }) else {
      throw NoRoute("The app has no credential for FCM. Assign a service account on the app's page.", .noCredential)
    }
    return batches.map { $0.tokens.map(script) }
  }

  func refresh() async throws { state.withLock { $0.refreshed += 1 } }

  /// How many devices wait for an answer.
  var waiting: Int { answers.held }

  /// Answers like this from now on, and to what is held back.
  func answer(_ script: @escaping Script) { answers.answer(script) }

  func route(
    app: Int64, environment: Model.Environment, provider: ProviderKind, report: @escaping @Sendable (SendReport) -> Void
  ) async throws -> Route {
    let found = try await store.read {
      try Credential.find($0, app: app, provider: .apns, environment: environment)
    }
    guard let found else { throw NoRoute("The app has no key or certificate for \(environment.rawValue).") }
    let provider = ProviderClosure(
      send: { push, devices in self.send(push.id, devices, report) }, cancel: { self.cancel($0) })
    return Route(credentialID: found.id, provider: provider)
  }

  private func send(
    _ push: Int64, _ members: [ProviderDevice], _ report: @escaping @Sendable (SendReport) -> Void
  ) {
    state.withLock { $0.sent += members.map(\.id) }
    answers.take(
      .init(push: push, members) { results in
        report(SendReport(push: push, results: results.map { (device: $0.id, result: $1) }))
      })
  }

  /// What the provider holds back.
  func stand(_ health: ProviderHealth?) { state.withLock { $0.health = health } }

  func health(credential: Int64, at now: Date) -> ProviderHealth? { state.withLock { $0.health } }

  private func cancel(_ push: Int64) {
    answers.cancel(push, with: .notSent(reason: OwnReason.cancelled.rawValue))
  }
}
