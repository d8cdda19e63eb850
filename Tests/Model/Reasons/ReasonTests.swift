import Foundation
import TestSupport
import Testing
import Text

@testable import Model

@Suite("Why?")
struct ReasonTests {
  @Test("no code without all fields", arguments: Reason.table + Reason.elsewhere)
  func complete(reason: Reason) {
    for text in [reason.cause, reason.remedy] {
      #expect(text.count > 10)
      #expect(text.hasSuffix("."))
      #expect(text.first?.isUppercase == true)
      #expect(!text.contains("{"))
    }
    // Codes of elsewhere are only looked up: no delivery has one.
    let isOurs = Reason.table.contains(reason)
    #expect((Reason.of(reason.code) == reason) == isOurs)
    #expect(MessageCatalogue.all[reason.causeCode] == reason.cause)
    #expect(MessageCatalogue.all[reason.remedyCode] == reason.remedy)
    // Pages show it without the cause: it must say by itself what it is about.
    #expect(!reason.remedy.contains("both again"))
    // A retired token is nobody's fault and is never tried again.
    if reason.isDeadToken { #expect((reason.retry, reason.actor) == (.never, .nobody)) }
    // Who stops a credential must tell somebody.
    if reason.retry == .afterCredential { #expect(reason.actor == .operations) }
    if isOurs, reason.source == .apns || reason.source == .jpush { #expect(reason.status != nil) }
  }

  @Test(
    "what the service itself said, without our words around it",
    arguments: [
      ("Expired (TooManyRequests)", "TooManyRequests"), ("BadDeviceToken", "BadDeviceToken"), ("NoCredential", nil),
      ("JPush 1011", "JPush 1011"),
    ] as [(String, String?)])
  func said(code: String, word: String?) {
    #expect(Reason.said(in: code) == word)
  }

  @Test(
    "legacy FCM has a word for each outcome",
    arguments: [
      ("Unregistered", .notRegistered), ("ExpiredToken", .notRegistered), ("UNREGISTERED", .notRegistered),
      ("BadDeviceToken", .invalidRegistration), ("INVALID_ARGUMENT", .invalidRegistration),
      ("DeviceTokenNotForTopic", .mismatchSenderID), ("SENDER_ID_MISMATCH", .mismatchSenderID),
      ("PayloadTooLarge", .messageTooBig), ("TooManyRequests", .deviceRateExceeded),
      ("QUOTA_EXCEEDED", .deviceRateExceeded), ("BadCertificate", .invalidAPNsCredential),
      ("PERMISSION_DENIED (CONSUMER_INVALID)", .internalServerError),
      ("BadRequest (message.android.notification.color)", .invalidParameters),
      ("BadRequest (message.android.restricted_package_name)", .invalidPackageName),
      ("THIRD_PARTY_AUTH_ERROR", .invalidAPNsCredential), ("NoCredential", .invalidAPNsCredential),
      ("Expired (ServiceUnavailable)", .internalServerError), ("HTTP 418", .internalServerError),
    ] as [(String, LegacyRequest.Word)])
  func legacy(reason: String, word: LegacyRequest.Word) {
    #expect(LegacyRequest.Word(reason: reason) == word)
  }

  @Test("legacy FCM calls a message too big, whatever service it is too large for")
  func tooBig() {
    for problem in [
      Problem("notification", PayloadMessage.tooLarge), Problem("notification", FCMMessageProblem.tooLarge),
      Problem("notification", JPushMessageProblem.tooLarge),
    ] { #expect(LegacyRequest.Refused(Problems([problem])).word == .messageTooBig, "\(problem.code)") }
  }

  @Test("the codes with special handling, and legacy FCM's words, are explained")
  func handled() {
    for code in APNsCode.allCases { #expect(Reason.of(code.rawValue).source == .apns, "\(code)") }
    let known = Set((Reason.table + Reason.elsewhere).map(\.code))
    for word in LegacyRequest.Word.allCases { #expect(known.contains(word.rawValue), "\(word)") }
  }

  @Test("each code occurs once")
  func unique() {
    let all = Reason.table + Reason.elsewhere
    #expect(Set(all.map(\.code)).count == all.count)
  }

  @Test(
    "every reason of Apple's pages is there, with its status",
    arguments: [
      (
        400,
        """
        BadCollapseId BadDeviceToken BadExpirationDate BadMessageId BadPriority BadTopic InvalidPushType \
        DuplicateHeaders DeviceTokenNotForTopic IdleTimeout MissingDeviceToken MissingTopic PayloadEmpty \
        TopicDisallowed FeatureNotEnabled MissingChannelId BadChannelId ChannelNotRegistered BadRequestParams \
        BadRequestPayload MissingPushType CannotCreateChannelConfig
        """
      ),
      (
        403,
        """
        BadCertificate BadCertificateEnvironment ExpiredProviderToken Forbidden InvalidProviderToken \
        MissingProviderToken UnrelatedKeyIdInToken BadEnvironmentKeyIdInToken BadEnvironmentKeyInToken TopicMismatch
        """
      ),
      (404, "BadPath"), (405, "MethodNotAllowed"), (410, "ExpiredToken Unregistered"), (413, "PayloadTooLarge"),
      (429, "TooManyProviderTokenUpdates TooManyRequests"), (500, "InternalServerError"),
      (503, "ServiceUnavailable Shutdown"),
    ])
  func apple(status: Int, codes: String) {
    for code in codes.split(separator: " ") {
      let reason = Reason.of(String(code))
      #expect(reason.source == .apns, "\(code)")
      #expect(reason.status == status, "\(code)")
    }
  }

  @Test(
    "what a sender may do",
    arguments: [
      ("BadDeviceToken", .never), ("DeviceTokenNotForTopic", .never), ("Forbidden", .never), ("ExpiredToken", .never),
      ("Unregistered", .never), ("PayloadTooLarge", .never), ("InternalServerError", .later),
      ("ServiceUnavailable", .later), ("Shutdown", .newConnection), ("IdleTimeout", .newConnection),
      ("UnrelatedKeyIdInToken", .newConnection), ("ExpiredProviderToken", .resignOnce),
      ("TooManyRequests", .perDevice), ("TooManyProviderTokenUpdates", .later),
      ("InvalidProviderToken", .afterCredential), ("BadCertificate", .afterCredential),
      ("TimedOut", .never), ("ConnectionLost", .never), ("NoCredential", .afterCredential),
    ] as [(String, Reason.Retry)])
  func retries(code: String, retry: Reason.Retry) {
    #expect(Reason.of(code).retry == retry)
  }

  @Test("dead tokens and suspected environments are told apart")
  func tokens() {
    let dead = Reason.table.filter(\.isDeadToken).map(\.code)
    #expect(Set(dead) == ["Unregistered", "ExpiredToken", "UNREGISTERED"])
    let suspected = Reason.table.filter(\.suspectsEnvironment).map(\.code)
    #expect(
      Set(suspected) == [
        "BadDeviceToken", "BadCertificateEnvironment", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken",
        "ChannelNotRegistered",
      ])
    #expect(Outcome.rejected(status: 410, reason: "Unregistered", tokenInvalidSince: nil).kind == .deadToken)
    #expect(Outcome.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil).kind == .failed)
    #expect(Outcome.rejected(status: 400, reason: "Novel", tokenInvalidSince: nil).kind == .failed)
  }

  @Test("a code that we do not know keeps its name and is not repeated", arguments: ["Novel", "", "unregistered"])
  func unknown(code: String) {
    let reason = Reason.of(code)
    #expect(reason.code == code)
    #expect(!reason.isKnown)
    #expect((reason.retry, reason.isDeadToken) == (.never, false))
    #expect(MessageCatalogue.all[reason.causeCode] == reason.cause)
  }

  @Test("every reason of our own is in the table", arguments: OwnReason.allCases)
  func own(reason: OwnReason) {
    #expect(Reason.of(reason).source == .signalbox)
    #expect(Reason.of(reason).code == reason.rawValue)
  }
}

@Suite("The catalogue of sentences")
struct MessageCatalogueTests {
  @Test("every code is a dotted word, every sentence is one")
  func form() {
    #expect(MessageCatalogue.all.count > 200)
    for (code, text) in MessageCatalogue.all {
      #expect(code.contains("."))
      #expect(text.count > 10, "\(code)")
      #expect(!text.contains("\n"), "\(code)")
      #expect(".”}?".contains(text.last ?? " "), "\(code)")
    }
  }
}

@Suite("Log redaction")
struct RedactionTests {
  static let hex = DeviceTokenTests.hex
  static let short = "77366f0d…832c0113"

  @Test(
    "tokens are shortened, secrets vanish, the rest stays",
    arguments: [
      ("token \(hex).", "token \(short)."), ("/3/device/\(hex)", "/3/device/\(short)"),
      ("deviceToken=\(hex)&x=1", "deviceToken=\(short)&x=1"),
      ("<77366f0d c4a4f2f4 74fe24de 5db46132 c725ee1a 8e41b1fc a9a511bc 832c0113>", "<\(short)>"),
      ("{\"t\":\"\(hex)\"}", "{\"t\":\"\(short)\"}"), (hex.uppercased() + hex, "77366F0D…832c0113"),
      ("authorization: bearer eyJhbGci.eyJpc3Mi.c2ln", "authorization: bearer …"),
      ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic …"), ("jwt eyJhbGci.eyJpc3Mi.c2ln", "jwt eyJ…"),
      ("to \(DeviceTokenTests.firebase)", "to cX1aB2c3…_-9Hy_-9"),
      ("to APA91bHx7_\(String(repeating: "Hx7_w", count: 26))", "to APA91bHx…7_wHx7_w"),
      ("apns-id eabeae54-14a8-11e5-b60b-1697f925ec7b", "apns-id eabeae54-14a8-11e5-b60b-1697f925ec7b"),
      ("SHA-1 0123456789abcdef0123456789abcdef01234567", "SHA-1 0123456789abcdef0123456789abcdef01234567"),
      ("a < b, c > d: <html>", "a < b, c > d: <html>"), ("", ""), ("张三 <", "张三 <"),
      ("the bearer of news", "the bearer … news"),
    ])
  func masking(text: String, masked: String) {
    #expect(Redaction.masking(text) == masked)
  }
}
