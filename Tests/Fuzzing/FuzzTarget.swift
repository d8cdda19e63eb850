import CNGHTTP2
import Foundation
import HTTP2
import JSON
import Model
import Mustache
import OpenSSL
import Store

@testable import Certificates
@testable import Console
@testable import HTTP2
@testable import HTTPServer

/// One reader of bytes that strangers send, with what must hold for any bytes at all. A violation ends the process.
///
/// `script/fuzz` calls these with inputs that libFuzzer invents; ``FuzzingTests`` with the corpus that it left.
enum FuzzTarget: String, CaseIterable, Sendable {
  case httpRequest = "http-request"
  case multipart
  case form
  case json
  case mustache
  case certificateFile = "certificate-file"
  case http2Answers = "http2-answers"
  case hpack
  case pushBody = "push-body"
  case jpushBody = "jpush-body"
  case legacyBody = "legacy-body"
  case pastedPush = "pasted-push"
  case devicesCSV = "devices-csv"
  case devicesNDJSON = "devices-ndjson"
  case passkey

  func run(_ bytes: [UInt8]) {
    switch self {
    case .httpRequest: Self.sameInPieces(bytes, Self.requests)
    case .multipart: Self.sameInPieces(bytes, Self.parts)
    case .form: _ = try? URLEncodedForm(bytes)  // both endings are right
    case .json: Self.readJSON(bytes)
    case .mustache: Self.renderTemplate(bytes)
    case .certificateFile: Self.inspect(bytes)
    case .http2Answers: Self.sameInPieces(bytes, Self.answers)
    case .hpack: Self.encodeFields(bytes)
    case .pushBody: Self.rewriting(bytes) { try PushDraft(json: $0).json }
    case .jpushBody: Self.readJPush(bytes)
    case .legacyBody: Self.reading(bytes) { _ = try LegacyRequest($0, app: "com.example.app") }
    case .pastedPush:
      _ = try? DialectReading(String(decoding: bytes, as: UTF8.self), now: Self.noon)  // both endings are right
    case .devicesCSV: Self.sameInPieces(bytes) { Self.devices($0, .csv) }
    case .devicesNDJSON: Self.sameInPieces(bytes) { Self.devices($0, .ndjson) }
    case .passkey: Self.registerPasskey(bytes)
    }
  }

  private static let noon = Date(timeIntervalSince1970: 1_795_176_000)

  private static let clientData = Array(
    #"{"type":"webauthn.create","challenge":"c","origin":"https://push.example.com"}"#.utf8)

  /// What a browser sends for a new passkey. Whatever is taken can be stored and checks signatures without harm.
  private static func registerPasskey(_ bytes: [UInt8]) {
    var rest = bytes[...]
    if (try? CBOR(reading: &rest)) != nil { precondition(rest.count < bytes.count, "a value without bytes") }
    let ceremony = PasskeyCeremony(origin: "https://push.example.com", relyingParty: "push.example.com") { _ in true }
    guard let made = try? ceremony.registration(attestation: bytes, clientData: clientData) else { return }
    precondition((1...1023).contains(made.credential.count), "an ID that the standard forbids")
    precondition(!made.key.verifiesPasskey(bytes, of: bytes), "a signature out of nothing")
    // Both endings are right; the last bytes of the data stand for a signature.
    _ = try? ceremony.assertion(
      authenticatorData: bytes, clientData: clientData, signature: Array(bytes.suffix(72)), key: made.key,
      counter: made.counter)
  }

  /// The result must not depend on how the network cut the bytes: whole, byte by byte, and in growing pieces.
  private static func sameInPieces(_ bytes: [UInt8], _ read: ([ArraySlice<UInt8>]) -> [String]) {
    let whole = read([bytes[...]])
    // Byte by byte is slow for long inputs and shows nothing new there.
    if bytes.count <= 2048 { precondition(read(bytes.indices.map { bytes[$0...$0] }) == whole, "differs byte by byte") }
    var pieces: [ArraySlice<UInt8>] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      pieces.append(rest.prefix(3 + pieces.count))
      rest = rest.dropFirst(3 + pieces.count - 1)
    }
    precondition(read(pieces) == whole, "differs in pieces")
  }

  private static func requests(_ pieces: [ArraySlice<UInt8>]) -> [String] {
    var parser = RequestParser(limits: .init(line: 256, fields: 1024, fieldCount: 16))
    var found: [String] = []
    var body: [UInt8] = []
    for piece in pieces {
      let isOver = piece.withUnsafeBufferPointer { input in
        var offset = 0
        while true {
          switch parser.next(input, &offset) {
          case .needsMore: return false
          case .head(let head):
            found.append("head \(head.method) \(head.segments) \(head.framing) \(head.bytes)")
            parser.bodyLimit = 4096
          case .body(let range): body += input[range]
          case .end:
            found.append("end \(body)")
            body = []
          case .failed(let error):
            found.append("failed \(error.status.code)")
            return true
          }
        }
      }
      if isOver { break }
    }
    return found
  }

  private static func parts(_ pieces: [ArraySlice<UInt8>]) -> [String] {
    var parser = MultipartParser(
      boundary: "b", limits: MultipartLimits(parts: 8, headerBytes: 512, partBytes: 4096))
    var found: [String] = []
    var data: [UInt8] = []
    do {
      for piece in pieces {
        for event in try parser.feed(Array(piece)) {
          if case .data(let more) = event {
            data += more
          } else {
            found.append("\(data) \(event)")
            data = []
          }
        }
      }
      try parser.finish()
      return found
    } catch {
      // How much was told before the failure depends on the pieces.
      return ["failed \(error.status.code)"]
    }
  }

  private static func readJSON(_ bytes: [UInt8]) {
    guard let value = try? JSONValue(parsing: bytes) else { return }
    let written = value.bytes
    guard let again = try? JSONValue(parsing: written) else { preconditionFailure("its own JSON is refused") }
    precondition(again == value && again.bytes == written, "reads its own JSON differently")
  }

  private static func renderTemplate(_ bytes: [UInt8]) {
    let source = String(decoding: bytes, as: UTF8.self)
    guard let library = try? TemplateLibrary(sources: ["main": source, "row": "{{name}}, "]) else { return }
    let data: Value = [
      "name": "<Ada>", "yes": true, "no": false, "number": 3, "rows": [["name": "one"], ["name": "two"]],
      "wrap": .lambda { "[\($0)]" },
    ]
    _ = try? library.render("main", data)  // both endings are right
  }

  private static func inspect(_ bytes: [UInt8]) {
    for password in [nil, "secret"] {
      do throws(FileProblem) {
        let file = try CertificateFile.inspect(data: Data(bytes), fileName: "AuthKey_ABC123DEFG.p8", password: password)
        _ = JSONWriter.bytes(of: InspectedFileAnswer(file, now: noon))
      } catch {
        precondition(!"\(error)".isEmpty)
      }
    }
  }

  /// The server's side of a connection with two requests.
  private static func answers(_ pieces: [ArraySlice<UInt8>]) -> [String] {
    let session = ClientSession(authority: "api.example", configuration: .init())
    session.begin()
    let template = RequestTemplate(fields: [HeaderField("apns-topic", "com.example.app")], variableNames: [])
    var builder = RequestBatchBuilder(template: template, body: Array("{}".utf8), capacity: 2)
    for id in 0..<2 { builder.append(id: Int64(id), path: "/3/device/\(id)", values: []) }
    let batch = builder.build()
    for index in 0..<2 { _ = session.submit(batch, index, deadline: 0) }
    var found: [String] = []
    do {
      for piece in pieces {
        try piece.withUnsafeBufferPointer { try session.receive($0) }
      }
    } catch {
      found.append("failed \(error)")
    }
    let ended = session.takeEnded()
    precondition(Set(ended.map(\.id)).count == ended.count, "a request ended twice")
    precondition(ended.count + session.slots.used == 2, "a request was lost")
    return found + ended.map { "\($0)" }
  }

  /// The header block of a request must say what was put into it. The decoder is nghttp2's.
  private static func encodeFields(_ bytes: [UInt8]) {
    let words = bytes.split(separator: 0, maxSplits: 5, omittingEmptySubsequences: false).map {
      // Values of fields are visible ASCII.
      String(decoding: $0.prefix(200).map { 0x21 + $0 % 94 }, as: UTF8.self)
    }
    let session = ClientSession(authority: "api.example", configuration: .init())
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
        Array(rest.dropFirst(9).prefix(length)).withUnsafeBufferPointer { block in
          var block = block
          while let field = try? decoder.next(&block) {
            let name = String(decoding: UnsafeBufferPointer(start: field.name, count: field.namelen), as: UTF8.self)
            let value = String(decoding: UnsafeBufferPointer(start: field.value, count: field.valuelen), as: UTF8.self)
            if name == ":path" { paths.append(value) }
            if name == "apns-id" { precondition(value == words[0], "another value came out") }
          }
        }
      }
      rest = rest.dropFirst(9 + length)
    }
    precondition(paths == (0..<3).map { "/\(words[$0 % words.count])" }, "another path came out")
  }

  private static func reading(_ bytes: [UInt8], _ read: (JSONValue) throws -> Void) {
    guard let json = try? JSONValue(parsing: bytes) else { return }
    try? read(json)  // both endings are right
  }

  /// What is accepted can be written, and read again as the same.
  private static func rewriting(_ bytes: [UInt8], _ read: (JSONValue) throws -> JSONValue) {
    guard let json = try? JSONValue(parsing: bytes), let written = try? read(json) else { return }
    guard let again = try? read(written) else { preconditionFailure("its own JSON is refused") }
    precondition(again == written, "reads its own JSON differently")
  }

  private static func readJPush(_ bytes: [UInt8]) {
    reading(bytes) { json in
      _ = try? JPushScheduleFields(json, isNew: true)
      _ = try? JPushDeviceChange(json)
      _ = try JPushRequest(json, app: "com.example.app")
    }
  }

  private static func devices(_ pieces: [ArraySlice<UInt8>], _ format: DeviceImport.Format) -> [String] {
    var parser = DeviceLineParser(format: format, defaults: ["app": "com.example.app"])
    var found: [String] = []
    for piece in pieces { found += parser.push(piece).map { "\($0)" } }
    return found + parser.finish().map { "\($0)" }
  }
}
