import Reactor
import Synchronization
import Testing

@testable import HTTP2

/// A group whose answers a test can wait for.
final class TestClient: ClientGroupHandler, Sendable {
  struct Ended: Sendable {
    /// How often each id ended: more than once is an error.
    var times: [Int64: Int] = [:]
    var statuses: [Int: Int] = [:]
    var unknown: [Answer.Cause] = []
    var notProcessed = 0
    var details: [Int64: Answer.Detail] = [:]
    var total = 0
    var states: [ClientGroup.State] = []
    var goAways: [GoAway] = []
    var mostConnections = 0
  }

  private struct State {
    var ended = Ended()
    var waiting: [(@Sendable (Ended) -> Bool, CheckedContinuation<Ended, Never>)] = []
  }

  private let state = Mutex(State())
  private let groupBox = Mutex<ClientGroup?>(nil)
  var group: ClientGroup { groupBox.withLock { $0 }.unsafelyUnwrapped }

  init(_ running: Running, endpoint: Endpoint? = nil, configuration: ClientGroupConfiguration = .quick) throws {
    let endpoint = try endpoint ?? running.endpoint()
    let group = ClientGroup(
      loop: running.clientLoop, endpoint: endpoint, configuration: configuration, resolver: running.resolver,
      handler: self)
    groupBox.withLock { $0 = group }
  }

  /// Waits until what has ended so far is enough, or the test has no more time.
  func wait(until enough: @escaping @Sendable (Ended) -> Bool) async -> Ended {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let present: Ended? = state.withLock { state in
          if enough(state.ended) || Task.isCancelled { return state.ended }
          state.waiting.append((enough, continuation))
          return nil
        }
        if let present { continuation.resume(returning: present) }
      }
    } onCancel: {
      let (waiting, ended) = state.withLock { state in
        defer { state.waiting = [] }
        return (state.waiting, state.ended)
      }
      for (_, continuation) in waiting { continuation.resume(returning: ended) }
    }
  }

  /// Sends `count` requests to `/0`, `/1` … and waits until all have ended.
  ///
  /// - Parameter gap: where each request's number stands in the body; nil: nowhere.
  func send(
    _ count: Int, body: [UInt8] = Array("{}".utf8), gap: Int? = nil, fields: [HeaderField] = []
  ) async -> Ended {
    let template = RequestTemplate(
      authority: group.endpoint.authority, fields: fields, variableNames: ["x-number"])
    var builder = RequestBatchBuilder(template: template, body: body, gap: gap, capacity: count)
    for number in 0..<count {
      builder.append(
        id: Int64(number), path: "/\(number)", values: ["number-\(number)"],
        body: gap.map { _ in Array("\(number)".utf8) })
    }
    group.submit(builder.build())
    return await wait { $0.total >= count }
  }

  /// Ends the group before its loop ends.
  func stop() async {
    let group = group
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      group.onLoop { group in
        group.stop()
        continuation.resume()
      }
    }
  }

  private func change(_ body: (inout Ended) -> Void) {
    let ready = state.withLock { state in
      body(&state.ended)
      let ready = state.waiting.filter { $0.0(state.ended) }
      state.waiting.removeAll { $0.0(state.ended) }
      return ready.map { ($0.1, state.ended) }
    }
    for (continuation, ended) in ready { continuation.resume(returning: ended) }
  }

  func group(_ group: ClientGroup, ended answers: [Answer]) {
    change { ended in
      ended.mostConnections = max(ended.mostConnections, group.live.count)
      for answer in answers {
        ended.total += 1
        ended.times[answer.id, default: 0] += 1
        switch answer.result {
        case .answered(let status, let detail):
          ended.statuses[status, default: 0] += 1
          ended.details[answer.id] = detail
        case .notProcessed: ended.notProcessed += 1
        case .unknown(let cause): ended.unknown.append(cause)
        }
      }
    }
  }

  func group(_ group: ClientGroup, changed state: ClientGroup.State) { change { $0.states.append(state) } }
  func group(_ group: ClientGroup, heard goAway: GoAway) { change { $0.goAways.append(goAway) } }
  func groupWillSend(_ group: ClientGroup) {}
}

extension ClientGroupConfiguration {
  /// Time-outs short enough for tests, long enough for a busy machine.
  static var quick: ClientGroupConfiguration {
    var configuration = ClientGroupConfiguration()
    configuration.reconnectDelay = .milliseconds(10)
    configuration.maximumReconnectDelay = .milliseconds(50)
    configuration.maximumConnections = 1
    configuration.interval = .milliseconds(10)
    configuration.connection.requestTimeout = .seconds(30)
    return configuration
  }
}

extension TestClient {
  /// Sends one request that cannot be sent, and returns why.
  static func failure(
    _ running: Running, _ endpoint: Endpoint, _ configuration: ClientGroupConfiguration
  ) async throws -> HTTP2Error? {
    let client = try TestClient(running, endpoint: endpoint, configuration: configuration)
    var builder = RequestBatchBuilder(template: RequestTemplate(authority: endpoint.authority, fields: []))
    builder.append(id: 1, path: "/")
    client.group.submit(builder.build())
    let ended = await client.wait { $0.states.contains { if case .failing = $0 { true } else { false } } }
    await client.stop()
    let last = await client.wait { $0.total == 1 }
    #expect(last.notProcessed == 1)
    return ended.states.lazy.compactMap { if case .failing(let error) = $0 { error } else { nil } }.first
  }
}
