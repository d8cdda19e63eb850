import Foundation
import HTTP2
import JSON
import Logging
import Model
import OpenSSL
import Synchronization

/// One of APNs' two servers: validates, delivers to phones, answers, and simulates faults.
final class APNsService: SimulatedService {
  /// "APNs allows only one stream for each connection until you post a request with a valid provider authentication
  /// token" (Apple, Sending notification requests to APNs).
  static let streamsBeforeToken: UInt32 = 1
  /// The number that Apple's servers announce.
  static let streams: UInt32 = 1000

  private struct Client {
    let connection: ServerConnection
    let identity: APNsConnectionIdentity
    var ledger = APNsLedger()
    var requests = 0
    var standing = SenderStanding()
    /// Whether it showed a certificate or a valid provider token.
    var isKnown = false
  }

  private struct State {
    var clients: [Int: Client] = [:]
    var counters = ServerCounters()
  }

  /// The handling of a request, decided under the lock and carried out without it.
  private struct Course {
    var verdict = FaultBox.Verdict()
    var judgement: Result<AcceptedPush, APNsRejection>?
    /// Of a request about channels.
    var channelCall: Result<ChannelCall, APNsRejection>?
    var becomesKnown = false
  }

  let environment: Model.Environment
  private let validator: APNsValidator
  let phones: PhoneBook
  let channels: ChannelBook
  private let requests: RequestBook
  let faults: FaultBox
  let now: @Sendable () -> Date
  private let log: Logger?
  /// Rarely contended: only the server's loop and readers of the counters use it.
  private let state = Mutex(State())

  init(
    validator: APNsValidator, phones: PhoneBook, channels: ChannelBook, requests: RequestBook, faults: FaultBox,
    now: @escaping @Sendable () -> Date, log: Logger?
  ) {
    environment = validator.environment
    (self.validator, self.phones, self.channels, self.requests) = (validator, phones, channels, requests)
    (self.faults, self.now, self.log) = (faults, now, log)
    faults.observe { [weak self] in self?.announceStreams($0) }
  }

  var counters: ServerCounters { state.withLock { $0.counters } }

  func opened(_ connection: ServerConnection) {
    let certificate: Certificate?
    do {
      certificate = try connection.clientCertificate.map { try Certificate(der: $0) }
    } catch {
      log?.warning("Closed a connection whose client certificate cannot be read.", ["error": "\(error)"])
      return connection.close()
    }
    let limit = faults.faults.maximumStreams
    state.withLock { state in
      state.counters.connections += 1
      state.counters.openConnections += 1
      state.clients[connection.id] = Client(
        connection: connection, identity: APNsConnectionIdentity(certificate: certificate),
        isKnown: certificate != nil)
    }
    if let limit {
      connection.setMaximumStreams(limit)
    } else if certificate != nil {
      connection.setMaximumStreams(Self.streams)
    }
    log?.debug(
      "Client connected.", ["environment": environment.rawValue, "certificate": certificate?.description ?? "none"])
  }

  func idled(_ connection: ServerConnection) { connection.goAway(debugData: Self.json(reason: "IdleTimeout")) }

  func closed(_ connection: ServerConnection) {
    state.withLock { state in
      if state.clients.removeValue(forKey: connection.id) != nil { state.counters.openConnections -= 1 }
    }
  }

  private func announceStreams(_ faults: Faults) {
    let clients = state.withLock { state in
      state.clients.values.map { ($0.connection, $0.isKnown ? $0.standing.streams : Self.streamsBeforeToken) }
    }
    for (connection, streams) in clients { connection.setMaximumStreams(faults.maximumStreams ?? streams) }
  }

  /// Counts an answer, and slows down or ends a connection with too many errors.
  private func note(_ status: Int, _ reason: String?, on connection: ServerConnection) {
    let (change, isKnown) = state.withLock { state -> (SenderStanding.Change?, Bool) in
      state.counters.byStatus[status, default: 0] += 1
      if let reason { state.counters.byReason[reason, default: 0] += 1 }
      guard let index = state.clients.index(forKey: connection.id) else { return (nil, false) }
      return (state.clients.values[index].standing.note(status, reason), state.clients.values[index].isKnown)
    }
    switch change {
    case .streams(let limit) where isKnown && faults.faults.maximumStreams == nil: connection.setMaximumStreams(limit)
    case .end: connection.goAway(.enhanceYourCalm)
    case .streams, nil: break
    }
  }

  func serve(_ request: ServerRequest, _ responder: ServerResponder) {
    guard let course = course(of: request) else { return responder.reset(.refusedStream) }
    let verdict = course.verdict
    defer {
      if verdict.goesAway {
        request.connection.goAway(lastStreamID: request.streamID, debugData: Self.json(reason: "Shutdown"))
      }
    }
    switch verdict.action {
    case .refuse:
      catching(request, nil, isFault: true)
      return responder.reset(.refusedStream)
    case .cut:
      catching(request, nil, isFault: true)
      return request.connection.cut()
    case .answer(let status, let reason):
      let timestamp = status == 410 ? now() : nil
      let rejection = APNsRejection(reason, status: status, apnsID: Self.id(of: request), timestamp: timestamp)
      return answer(rejection, verdict, request, responder, isFault: true)
    case .proceed, .keepSilent: break
    }
    if course.becomesKnown, faults.faults.maximumStreams == nil {
      request.connection.setMaximumStreams(Self.streams)
    }
    if let call = course.channelCall {
      let result = Result { () throws(APNsRejection) in try carryOut(try call.get()) }
      guard verdict.action != .keepSilent else {
        return catching(request, nil, isFault: true, (try? result.get())?.landing)
      }
      switch result {
      case .success(let done): return answer(done.response, done.landing, verdict, request, responder)
      case .failure(let rejection): return answer(rejection, verdict, request, responder)
      }
    }
    let result = course.judgement.map { judgement in
      judgement.flatMap { push in
        phones.deliver(push, environment: environment, now: now()).map { landing in
          channels.join(push, environment)
          return (push: push, landing: landing)
        }
      }
    }
    guard let result else { return }
    guard verdict.action != .keepSilent else {
      return catching(request, nil, isFault: true, (try? result.get())?.landing)
    }
    switch result {
    case .success(let done): answer(done.push, done.landing, verdict, request, responder)
    case .failure(let rejection): answer(rejection, verdict, request, responder)
    }
  }

  /// Apple has no reason for it; clients hang without `apns-id` (docs/protocols.md §1.7).
  func refuseLongHeader(_ request: ServerRequest, _ responder: ServerResponder) {
    state.withLock { $0.counters.requests += 1 }
    let rejection = APNsRejection("RequestHeaderFieldsTooLarge", status: 431, apnsID: Self.id(of: request))
    answer(rejection, FaultBox.Verdict(), request, responder)
  }

  /// - Returns: nil for a connection that is being closed.
  private func course(of request: ServerRequest) -> Course? {
    let streams = request.connection.openStreams
    return state.withLock { state in
      guard let index = state.clients.index(forKey: request.connection.id) else { return nil }
      state.counters.requests += 1
      state.counters.mostStreams = max(state.counters.mostStreams, streams)
      state.clients.values[index].requests += 1
      let path = request.path
      var course = Course()
      course.verdict = faults.decide(
        number: state.clients.values[index].requests, token: path.suffix(while: { $0 != "/" }))
      switch course.verdict.action {
      case .answer: return course
      case .refuse:
        state.counters.refused += 1
        return course
      case .cut:
        state.counters.unanswered += 1
        return course
      case .keepSilent: state.counters.unanswered += 1
      case .proceed: break
      }
      let call = APNsCall(
        method: request.method, path: path, headers: request.fields.map { $0 }, body: request.body,
        bodyByteCount: request.bodyByteCount)
      let identity = state.clients.values[index].identity
      if APNsValidator.isAboutChannels(path) {
        do throws(APNsRejection) {
          course.channelCall = .success(
            try validator.judgeChannel(
              call, identity: identity, ledger: &state.clients.values[index].ledger, now: now()))
        } catch {
          course.channelCall = .failure(error)
        }
      } else {
        course.judgement = validator.judge(
          call, identity: identity, ledger: &state.clients.values[index].ledger, now: now())
      }
      if !state.clients.values[index].isKnown, state.clients.values[index].ledger.scope != nil {
        state.clients.values[index].isKnown = true
        course.becomesKnown = true
      }
      return course
    }
  }

  /// Keeps the request with its answer for those who ask what came.
  ///
  /// - Parameters:
  ///   - response: nil: a fault withholds it.
  ///   - landing: of a push that was accepted.
  private func catching(
    _ request: ServerRequest, _ response: ServerResponse?, isFault: Bool = false, _ landing: Landing? = nil,
    reason: String? = nil
  ) {
    let sent = CaughtRequest.Sent(
      server: SimulatedServer(environment), at: now(), method: request.method, target: request.path,
      fields: request.fields, body: request.body, bodyByteCount: request.bodyByteCount)
    var answer = CaughtRequest.Answer(
      status: response?.status, body: response?.body ?? [], reason: reason, isFault: isFault, landing: landing)
    answer.fields = (response?.fields ?? []).map { CaughtRequest.Field(name: $0.name, value: $0.value) }
    requests.add(CaughtRequest(sent, answer))
  }

  private func answer(
    _ push: AcceptedPush, _ landing: Landing, _ verdict: FaultBox.Verdict, _ request: ServerRequest,
    _ responder: ServerResponder
  ) {
    note(200, nil, on: responder.connection)
    var fields = [HeaderField("apns-id", push.apnsID, indexing: .never)]
    // For Apple's Push Notifications Console; only the development server sends it.
    if environment == .development {
      fields.append(HeaderField("apns-unique-id", UUID().uuidString.lowercased(), indexing: .never))
    }
    let response = ServerResponse(status: 200, fields: fields)
    catching(request, response, landing)
    send(response, verdict, responder)
  }

  private func answer(
    _ rejection: APNsRejection, _ verdict: FaultBox.Verdict, _ request: ServerRequest, _ responder: ServerResponder,
    isFault: Bool = false
  ) {
    note(rejection.status, rejection.reason, on: request.connection)
    log?.debug(
      "Push refused.",
      ["environment": environment.rawValue, "status": rejection.status, "reason": rejection.reason])
    let fields = [
      Self.idField(of: request, rejection.apnsID), HeaderField("content-type", "application/json"),
    ]
    let response = ServerResponse(
      status: rejection.status, fields: fields,
      body: Self.json(reason: rejection.reason, timestamp: rejection.timestamp))
    catching(request, response, isFault: isFault, reason: rejection.reason)
    send(response, verdict, responder)
  }

  private func answer(
    _ response: ServerResponse, _ landing: Landing?, _ verdict: FaultBox.Verdict, _ request: ServerRequest,
    _ responder: ServerResponder
  ) {
    note(response.status, nil, on: request.connection)
    var response = response
    response.fields.append(Self.idField(of: request, nil))
    catching(request, response, landing)
    send(response, verdict, responder)
  }

  private func send(_ response: ServerResponse, _ verdict: FaultBox.Verdict, _ responder: ServerResponder) {
    if let delay = verdict.delay { responder.respond(response, after: delay) } else { responder.respond(response) }
  }

  /// Requests about channels have an ID of their own kind.
  private static func idField(of request: ServerRequest, _ known: String?) -> HeaderField {
    guard APNsValidator.isAboutChannels(request.path) else {
      return HeaderField("apns-id", known ?? id(of: request), indexing: .never)
    }
    let own = request.fields["apns-request-id"] ?? UUID().uuidString.lowercased()
    return HeaderField("apns-request-id", own, indexing: .never)
  }

  /// The sender's id, or a new one, because clients hang without (docs/protocols.md §1.7).
  private static func id(of request: ServerRequest) -> String { request.fields["apns-id"] ?? UUID().uuidString }

  private static func json(reason: String, timestamp: Date? = nil) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.member("reason", reason)
      if let timestamp { json.member("timestamp", Int64((timestamp.timeIntervalSince1970 * 1000).rounded())) }
    }
    return json.bytes
  }
}

extension StringProtocol {
  /// The longest suffix whose characters all match.
  fileprivate func suffix(while fits: (Character) -> Bool) -> SubSequence {
    self[(lastIndex { !fits($0) }.map { index(after: $0) } ?? startIndex)...]
  }
}
