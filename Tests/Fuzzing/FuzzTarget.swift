import Foundation
import JSON
import Model
import Mustache
import Store

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
  case certificate
  case pem
  case pkcs12
  case privateKey = "private-key"
  case profile
  case serviceAccount = "service-account"
  case http2Answers = "http2-answers"
  case http2Requests = "http2-requests"
  case http1Requests = "http1-requests"
  case hpack
  case hpackBlocks = "hpack-blocks"
  case pushBody = "push-body"
  case jpushBody = "jpush-body"
  case legacyBody = "legacy-body"
  case fcmMessage = "fcm-message"
  case fcmCall = "fcm-call"
  case serviceAnswer = "service-answer"
  case receipts
  case pastedPush = "pasted-push"
  case devicesCSV = "devices-csv"
  case devicesNDJSON = "devices-ndjson"
  case passkey
  case idToken = "id-token"
  case oidcDocuments = "oidc-documents"

  func run(_ bytes: [UInt8]) {
    switch self {
    case .httpRequest: Self.sameInPieces(bytes, Self.requests)
    case .multipart: Self.sameInPieces(bytes, Self.parts)
    case .form: _ = try? URLEncodedForm(bytes)  // both endings are right
    case .json: Self.readJSON(bytes)
    case .mustache: Self.renderTemplate(bytes)
    case .certificateFile: Self.inspect(bytes)
    case .certificate: Self.readCertificate(bytes)
    case .pem: Self.readPEM(bytes)
    case .pkcs12: Self.openPKCS12(bytes)
    case .privateKey: Self.readPrivateKey(bytes)
    case .profile: Self.readProfile(bytes)
    case .serviceAccount: Self.readServiceAccount(bytes)
    case .http2Answers: Self.sameInPieces(bytes, Self.answers)
    case .http2Requests: Self.serveHTTP2(bytes)
    case .http1Requests: Self.serveHTTP1(bytes)
    case .hpack: Self.encodeFields(bytes)
    case .hpackBlocks: Self.decodeBlocks(bytes)
    case .pushBody: Self.rewriting(bytes) { try PushDraft(json: $0).json }
    case .jpushBody: Self.readJPush(bytes)
    case .legacyBody: Self.reading(bytes) { _ = try LegacyRequest($0, app: "com.example.app") }
    case .fcmMessage: Self.readFCMMessage(bytes)
    case .fcmCall: Self.answerFCMCall(bytes)
    case .serviceAnswer: Self.readServiceAnswer(bytes)
    case .receipts: Self.readReceipts(bytes)
    case .pastedPush:
      _ = try? DialectReading(String(decoding: bytes, as: UTF8.self), now: Self.noon)  // both endings are right
    case .devicesCSV: Self.sameInPieces(bytes) { Self.devices($0, .csv) }
    case .devicesNDJSON: Self.sameInPieces(bytes) { Self.devices($0, .ndjson) }
    case .passkey: Self.registerPasskey(bytes)
    case .idToken: Self.readIDToken(bytes)
    case .oidcDocuments: Self.readOIDCDocuments(bytes)
    }
  }

  static let noon = Date(timeIntervalSince1970: 1_795_176_000)

  /// Something that is made once, before the first input.
  static func made<Made>(_ make: () throws -> Made) -> Made {
    do { return try make() } catch { preconditionFailure("\(error)") }
  }

  /// The result must not depend on how the network cut the bytes: whole, byte by byte, and in growing pieces.
  static func sameInPieces<Reading: Equatable>(_ bytes: [UInt8], _ read: ([ArraySlice<UInt8>]) -> Reading) {
    let whole = read([bytes[...]])
    // Byte by byte is slow for long inputs and shows nothing new there.
    if bytes.count <= 128 { precondition(read(bytes.indices.map { bytes[$0...$0] }) == whole, "differs byte by byte") }
    precondition(read(pieces(bytes)) == whole, "differs in pieces")
  }

  /// Of three bytes, of four, and so on.
  static func pieces(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var pieces: [ArraySlice<UInt8>] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      pieces.append(rest.prefix(3 + pieces.count))
      rest = rest.dropFirst(3 + pieces.count - 1)
    }
    return pieces
  }

  private static func readJSON(_ bytes: [UInt8]) {
    guard let value = try? JSONValue(parsing: bytes) else { return }
    let written = value.bytes
    guard let again = try? JSONValue(parsing: written) else { preconditionFailure("its own JSON is refused") }
    precondition(again == value && again.bytes == written, "reads its own JSON differently")
  }

  private static let templateData: Value = [
    "name": "<Ada>", "yes": true, "no": false, "number": 3, "rows": [["name": "one"], ["name": "two"]],
    "wrap": .lambda { "[\($0)]" },
  ]

  private static func renderTemplate(_ bytes: [UInt8]) {
    let source = String(decoding: bytes, as: UTF8.self)
    guard let library = try? TemplateLibrary(sources: ["main": source, "row": "{{name}}, "]) else { return }
    _ = try? library.render("main", templateData)  // both endings are right
  }
}
