import Push
import Testing

@Suite("Reasons")
struct ReasonTests {
  @Test("no code without cause, remedy and a status of its class", arguments: Reason.all)
  func whole(reason: Reason) {
    #expect(reason.cause.hasSuffix(".") && reason.cause.count > 15)
    #expect(reason.remedy.hasSuffix(".") && reason.remedy.count >= 8)
    let isOurs = reason.code.first?.isLowercase == true
    #expect((reason.status == nil) == isOurs)
    #expect(isOurs || (400...503).contains(reason.status ?? 0))
    if reason.isDeadToken { #expect(reason.status == 410) }
    if reason.retry == .stopCredential { #expect(reason.status == 403) }
  }

  @Test(
    "Apple's list is complete, each with its status",
    arguments: [
      ("BadCollapseId", 400), ("BadDeviceToken", 400), ("BadExpirationDate", 400), ("BadMessageId", 400),
      ("BadPriority", 400), ("BadTopic", 400), ("DeviceTokenNotForTopic", 400), ("DuplicateHeaders", 400),
      ("IdleTimeout", 400), ("InvalidPushType", 400), ("MissingDeviceToken", 400), ("MissingTopic", 400),
      ("PayloadEmpty", 400), ("TopicDisallowed", 400), ("BadCertificate", 403), ("BadCertificateEnvironment", 403),
      ("ExpiredProviderToken", 403), ("Forbidden", 403), ("InvalidProviderToken", 403), ("MissingProviderToken", 403),
      ("UnrelatedKeyIdInToken", 403), ("BadEnvironmentKeyIdInToken", 403), ("BadEnvironmentKeyInToken", 403),
      ("BadPath", 404), ("MethodNotAllowed", 405), ("ExpiredToken", 410), ("Unregistered", 410),
      ("PayloadTooLarge", 413), ("TooManyProviderTokenUpdates", 429), ("TooManyRequests", 429),
      ("InternalServerError", 500), ("ServiceUnavailable", 503), ("Shutdown", 503),
    ])
  func apple(code: String, status: Int) {
    #expect(Reason.all.contains { $0.code == code && $0.status == status })
  }

  @Test(
    "what Apple says must never be repeated is not repeated",
    arguments: [
      "BadDeviceToken", "DeviceTokenNotForTopic", "Forbidden", "ExpiredToken", "Unregistered", "PayloadTooLarge",
    ]
  )
  func never(code: String) {
    #expect(Reason.find(code).retry == .never)
  }

  @Test("an unknown code says so, and a server's error may pass")
  func unknown() {
    #expect(Reason.find("Novel", status: 400).retry == .never)
    #expect(Reason.find("Novel", status: 500).retry == .later)
    #expect(Reason.find("Novel").cause.contains("does not know"))
  }

  @Test("only 410 makes a token dead; a bad token may be of the other environment")
  func outcome() {
    #expect(Outcome.rejected(status: 410, reason: "Unregistered", tokenInvalidSince: nil).kind == .deadToken)
    #expect(Outcome.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil).kind == .failed)
    #expect(Reason.find("BadDeviceToken").suspectsEnvironment)
  }
}
