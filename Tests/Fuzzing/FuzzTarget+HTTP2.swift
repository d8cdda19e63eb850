import CNGHTTP2
import Foundation
import OpenSSL
import Reactor

@testable import HTTP2

/// HTTP/2 and HPACK, both ways.
extension FuzzTarget {
  // MARK: What a server answers

  struct AnswerReading: Equatable {
    var failure: SessionFailure?
    var ended: [EndedRequest] = []
  }

  enum EndedRequest: Equatable {
    case answered(Int64, status: Int, fields: HeaderList?, body: [UInt8]?)
    case notProcessed(Int64)
    case unknown(Int64, Answer.Cause)

    init(_ answer: Answer) {
      self =
        switch answer.result {
        case .answered(let status, let detail):
          .answered(answer.id, status: status, fields: detail?.fields, body: detail?.body)
        case .notProcessed: .notProcessed(answer.id)
        case .unknown(let cause): .unknown(answer.id, cause)
        }
    }
  }

  private static let clientConfiguration = {
    var configuration = ClientConfiguration()
    // A table for a thousand streams takes longer than the reading.
    configuration.maximumStreams = 8
    return configuration
  }()

  private static let twoRequests = {
    let template = RequestTemplate(fields: [HeaderField("apns-topic", "com.example.app")], variableNames: [])
    var builder = RequestBatchBuilder(template: template, body: Array("{}".utf8), capacity: 2)
    for id in 0..<2 { builder.append(id: Int64(id), path: "/3/device/\(id)", values: []) }
    return builder.build()
  }()

  /// The server's side of a connection with two requests.
  static func answers(_ pieces: [ArraySlice<UInt8>]) -> AnswerReading {
    let session = ClientSession(authority: "api.example", configuration: clientConfiguration)
    session.begin()
    for index in 0..<2 { _ = session.submit(twoRequests, index, deadline: 0) }
    var reading = AnswerReading()
    do throws(SessionFailure) {
      for piece in pieces {
        try piece.withUnsafeBufferPointer { bytes throws(SessionFailure) in try session.receive(bytes) }
      }
    } catch {
      reading.failure = error
    }
    let ended = session.takeEnded()
    precondition(Set(ended.map(\.id)).count == ended.count, "a request ended twice")
    precondition(ended.count + session.slots.used == 2, "a request was lost")
    reading.ended = ended.map(EndedRequest.init)
    return reading
  }

  // MARK: What a client asks

  struct ServedRequest: Equatable {
    let stream: Int32
    let fields: HeaderList
    let body: [UInt8]
    let bodyByteCount: Int
    let isTooLong: Bool
  }

  private final class Recorder: ServerHandler, @unchecked Sendable {
    // @unchecked Sendable because it is used on one thread.
    var served: [ServedRequest] = []
    var closings = 0

    private func record(_ request: ServerRequest, isTooLong: Bool) {
      served.append(
        ServedRequest(
          stream: request.streamID, fields: request.fields, body: request.body, bodyByteCount: request.bodyByteCount,
          isTooLong: isTooLong))
    }

    func serve(_ request: ServerRequest, _ responder: ServerResponder) { record(request, isTooLong: false) }
    func refuseLongHeader(_ request: ServerRequest, _ responder: ServerResponder) { record(request, isTooLong: true) }
    func closed(_ connection: ServerConnection) { closings += 1 }
  }

  /// Nobody connects to it.
  private static let place = made {
    let day: TimeInterval = 86_400
    let authority = try CertificateAuthority(
      subject: [.commonName("fuzz")], notBefore: noon - day, notAfter: noon + day)
    let own = try authority.issueServer(names: ["localhost"], notBefore: noon - day, notAfter: noon + day)
    let identity = TLSIdentity(
      certificateChainPEM: Array(own.certificate.pem.utf8), privateKeyPEM: own.key.pkcs8PEMBytes)
    return (loop: try EventLoop(name: "fuzz"), tls: try TLSContext.server(identity: identity))
  }

  private static let serverSettings = {
    var settings = ServerSettings()
    (settings.maximumHeaderBytes, settings.maximumBodyBytes) = (512, 64)
    return settings
  }()

  /// A client's frames after its preface. What reaches the handler must not depend on the pieces, and what is sent back
  /// must be frames that a client can read.
  static func serveHTTP2(_ bytes: [UInt8]) {
    let whole = serve([bytes[...]])
    var cuts = [pieces(bytes)]
    if bytes.count <= 128 { cuts.append(bytes.indices.map { bytes[$0...$0] }) }
    let isContinued = frames(bytes).contains { $0.type == FrameType.headers && !$0.has(FrameFlag.endHeaders) }
    for cut in cuts {
      let other = serve(cut)
      // Debian's libnghttp2 takes the pieces of one CONTINUATION for several, and refuses the ninth.
      precondition(isContinued || other.hasFailed == whole.hasFailed, "fails in pieces only, or whole only")
      guard whole.hasFailed || other.hasFailed else {
        precondition(other.served == whole.served, "differs in pieces")
        continue
      }
      // A connection that fails drops the requests that came with the same piece.
      precondition(
        other.served.starts(with: whole.served) || whole.served.starts(with: other.served), "differs in pieces")
    }
  }

  private static func serve(_ pieces: [ArraySlice<UInt8>]) -> (served: [ServedRequest], hasFailed: Bool) {
    let recorder = Recorder()
    let server = HTTP2Server(loop: place.loop, tls: place.tls, settings: serverSettings, handler: recorder)
    let connection = ServerConnection(id: 1, server: server)
    precondition(connection.makeSession())
    // As after h2 was agreed. There is no socket: this function takes what is sent, and no flush is planned.
    (connection.isSpeaking, connection.flushIsPlanned) = (true, true)
    let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)[...]
    for piece in [preface] + pieces {
      guard piece.withUnsafeBytes({ connection.transport(received: $0) }) else { break }
    }
    let served = recorder.served
    precondition(Set(served.map(\.stream)).count == served.count, "served twice")
    for request in served {
      precondition(request.fields.byteCount <= 512 && request.body.count <= 64, "keeps more than it may")
      precondition(request.bodyByteCount >= request.body.count, "counts less than it keeps")
    }
    let isClosed = connection.isClosed
    precondition(recorder.closings <= 1, "closed twice")
    precondition(connection.openStreams <= 1000, "opens more than it offered")
    if !isClosed { checkFrames(sent(by: connection)) }
    connection.fail(nil)
    precondition(connection.openStreams == 0, "keeps a stream")
    return (served, isClosed)
  }

  private static func sent(by connection: ServerConnection) -> [UInt8] {
    var output: [UInt8] = []
    var bytes: UnsafePointer<UInt8>?
    while let session = connection.session, case let count = nghttp2_session_mem_send(session, &bytes), count > 0 {
      output += UnsafeBufferPointer(start: bytes, count: count)
    }
    return output
  }

  /// Without an answer, whole frames about the connection and its streams.
  private static func checkFrames(_ output: [UInt8]) {
    let heads = frames(output)
    precondition(heads.reduce(0) { $0 + FrameHeader.size + $1.length } == output.count, "a cut frame")
    let answers = heads.filter { [FrameType.headers, FrameType.data].contains($0.type) }
    precondition(answers.isEmpty, "an answer out of nothing")
  }

  /// The heads of all whole frames.
  private static func frames(_ bytes: [UInt8]) -> [FrameHeader] {
    var splitter = FrameSplitter()
    return bytes.withUnsafeBufferPointer { bytes in
      var rest = bytes
      var heads: [FrameHeader] = []
      while let frame = try? splitter.next(&rest) { heads.append(frame.header) }
      return heads
    }
  }

  /// Nil if the block cannot be decompressed.
  private static func fields(
    of block: UnsafeBufferPointer<UInt8>, _ decoder: borrowing HeaderDecoder
  ) -> HeaderList? {
    var list = HeaderList()
    var rest = block
    do throws(SessionFailure) {
      while let field = try decoder.next(&rest) {
        list.append(
          name: UnsafeBufferPointer(start: field.name, count: field.namelen),
          value: UnsafeBufferPointer(start: field.value, count: field.valuelen))
      }
      return list
    } catch {
      return nil
    }
  }

  // MARK: HPACK

  /// Header blocks of strangers, each after its length. Skipping one must leave the table as reading it does, and what
  /// was read must come out of our own encoding again.
  static func decodeBlocks(_ bytes: [UInt8]) {
    let reading = HeaderDecoder()
    let skipping = HeaderDecoder()
    let own = HeaderDecoder()
    var rest = bytes[...]
    var isSkipped = false
    while let length = rest.popFirst() {
      let block = rest.prefix(Int(length))
      rest = rest.dropFirst(Int(length))
      let read = block.withUnsafeBufferPointer { fields(of: $0, reading) }
      if isSkipped {
        let isGood = block.withUnsafeBufferPointer { block in (try? skipping.skip(block)) != nil }
        precondition(isGood == (read != nil), "skips what it cannot read")
      } else {
        precondition(block.withUnsafeBufferPointer { fields(of: $0, skipping) } == read, "skipping changes the table")
      }
      isSkipped.toggle()
      guard let read else { return }
      checkAnswer(read)
      var writer = HPACKWriter()
      for field in read {
        let form: HPACKWriter.Form = field.value.utf8.count % 2 == 0 ? .addedToTable : .neverIndexed
        writer.name(Array(field.name.utf8), index: 0, form)
        writer.string(Array(field.value.utf8))
      }
      let again = writer.bytes.withUnsafeBufferPointer { fields(of: $0, own) }
      let isSame = again.map { $0.elementsEqual(read) { $0 == $1 } }
      precondition(isSame == true, "reads its own block differently")
    }
  }

  /// The fields as those of an answer.
  private static func checkAnswer(_ fields: HeaderList) {
    var head = AnswerHead(trailerOf: nil, keepsFieldsOfSuccess: true)
    for field in fields {
      let storage = FieldStorage([HeaderField(field.name, field.value)])
      withExtendedLifetime(storage) { storage.entries.forEach { head.add($0) } }
    }
    precondition(head.status == 0 || (100...999).contains(head.status), "an impossible status")
    precondition(head.fields.map { $0.byteCount <= AnswerHead.maximumSize } ?? true, "keeps more than it may")
    guard head.problem == nil, let kept = head.fields else { return }
    for field in kept {
      precondition(field.name.utf8.allSatisfy { $0 > 0x20 && !(0x41...0x5A).contains($0) }, "a name in upper case")
      precondition(field.value.utf8.allSatisfy { $0 != 0 && $0 != 10 && $0 != 13 }, "a value with a line end")
    }
  }

  /// The header block of a request must say what was put into it. The decoder is nghttp2's.
  static func encodeFields(_ bytes: [UInt8]) {
    let words = bytes.split(separator: 0, maxSplits: 5, omittingEmptySubsequences: false).map {
      // Values of fields are visible ASCII.
      String(decoding: $0.prefix(200).map { 0x21 + $0 % 94 }, as: UTF8.self)
    }
    let session = ClientSession(authority: "api.example", configuration: clientConfiguration)
    session.begin()
    let template = RequestTemplate(
      fields: words.dropFirst(3).enumerated().map { HeaderField("x-\($0)", $1) }, variableNames: ["apns-id"])
    var builder = RequestBatchBuilder(template: template, body: [], capacity: 3)
    for id in 0..<3 { builder.append(id: Int64(id), path: "/\(words[id % words.count])", values: [words[0]]) }
    let batch = builder.build()
    for index in 0..<3 { precondition(session.submit(batch, index, deadline: 0)) }
    var output: [UInt8] = []
    while session.output.count > 0 {
      output += session.output.front
      session.output.take(session.output.front.count)
    }
    let decoder = HeaderDecoder()
    var paths: [String] = []
    // After the preface: frames of nine bytes' head.
    var rest = output.dropFirst(24)
    while rest.count >= 9 {
      let head = Array(rest.prefix(9))
      let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
      if head[3] == 1 {
        let found = Array(rest.dropFirst(9).prefix(length)).withUnsafeBufferPointer { fields(of: $0, decoder) }
        for field in found ?? HeaderList() {
          if field.name == ":path" { paths.append(field.value) }
          if field.name == "apns-id" { precondition(field.value == words[0], "another value came out") }
        }
      }
      rest = rest.dropFirst(9 + length)
    }
    precondition(paths == (0..<3).map { "/\(words[$0 % words.count])" }, "another path came out")
  }
}
