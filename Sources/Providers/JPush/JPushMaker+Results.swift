import Foundation
import HTTP2
package import JSON
import Model
import Reactor
import Synchronization

extension JPushMaker {
  /// The most messages of one question.
  package static let resultLimit = 100

  /// Asks JPush what became of its messages (`/v3/received/detail`, docs/protocols.md §4.5), over a connection of its
  /// own that is closed afterwards.
  ///
  /// - Returns: JPush's figures by message ID, as received.
  /// - Throws: ``ProviderProblem`` if there is no answer within 20 seconds, or a refusal; an error about the account.
  package func results(
    of messages: [String], _ account: ProviderAccount, _ tools: ProviderTools
  ) async throws -> [String: JSONValue] {
    let authorization = BasicAuthorization.value(try Self.keys(account))
    let endpoint = try JPushEndpoint(account.endpoint).endpoint(isReport: true)
    var connections = tools.connections
    connections.maximumConnections = 1
    connections.connection.requestTimeout = .seconds(20)
    let question = Question()
    let group = ClientGroup(
      loop: tools.loop, endpoint: endpoint, configuration: connections, resolver: tools.resolver, handler: question)
    defer { tools.loop.execute { group.stop() } }
    let template = RequestTemplate(
      method: "GET", fields: [HeaderField("authorization", authorization, indexing: .never)])
    let path = "/v3/received/detail?msg_ids=\(messages.joined(separator: "%2C"))"
    let json = try await question.ask {
      var batch = RequestBatchBuilder(template: template, capacity: 1)
      batch.append(id: 0, path: path)
      group.submit(batch.build())
    }
    guard let list = json.array else { throw ProviderProblem("JPush's report is not a list.") }
    let pairs = list.compactMap { entry in
      (entry["msg_id"]?.string ?? entry["msg_id"]?.integer.map(String.init)).map { ($0, entry) }
    }
    return Dictionary(pairs) { first, _ in first }
  }
}

/// One request, and its answer.
private final class Question: ClientGroupHandler, Sendable {
  private let waiter = Mutex<CheckedContinuation<JSONValue, any Error>?>(nil)

  func ask(_ send: () -> Void) async throws -> JSONValue {
    try await withCheckedThrowingContinuation { continuation in
      waiter.withLock { $0 = continuation }
      send()
    }
  }

  private func end(_ result: Result<JSONValue, any Error>) {
    let continuation = waiter.withLock { waiter in
      defer { waiter = nil }
      return waiter
    }
    continuation?.resume(with: result)
  }

  func group(_ group: ClientGroup, ended answers: [Answer]) {
    guard let answer = answers.first else { return }
    switch answer.result {
    case .answered(200, let detail):
      end(
        Result {
          do { return try JSONValue(parsing: detail?.body ?? []) } catch {
            throw ProviderProblem("JPush's report is not JSON.")
          }
        })
    case .answered(let status, let detail):
      let reason = JPushResponse(status: status, body: detail?.body ?? []).reason
      end(.failure(ProviderProblem("JPush refuses the report: \(reason).")))
    case .notProcessed, .unknown: end(.failure(ProviderProblem("JPush does not answer.")))
    }
  }

  func group(_ group: ClientGroup, changed state: ClientGroup.State) {
    guard case .failing(let error) = state else { return }
    end(.failure(ProviderProblem("JPush cannot be reached: \(error.message)")))
  }

  func group(_ group: ClientGroup, heard goAway: GoAway) {}
  func groupWillSend(_ group: ClientGroup) {}
}
