import Foundation
import TestSupport

/// What people set up on the settings pages.
extension BrowserScene {
  /// A mail server as it is typed in.
  struct TypedMailServer {
    var port: Int
    var security = "none"
    var user = ""
    var password = ""
    var trust = ""
  }

  /// Keeps a mail server of this machine, and sees that it was kept, if it is right: the next page has the same fields,
  /// and what is typed too early is typed into the page before.
  func keep(_ server: TypedMailServer, isRight: Bool = true) async throws {
    try await open("/settings/mail")
    try await fill("host", "localhost")
    try await fill("port", "\(server.port)")
    try await select("security", server.security)
    try await fill("user", server.user)
    try await fill("password", server.password)
    try await fill("from", "signalbox@example.com")
    try await fill("trust", server.trust)
    try await press("Save changes")
    if isRight { try await sees("Settings saved.") }
  }

  /// Sends a test mail from the settings page, and sees what is said about it.
  func testMail(to address: String, isGood: Bool) async throws {
    try await fill("to", address)
    try await press("Send test")
    try await sees(
      isGood ? "The test message to \(address) was accepted." : "The test message to \(address) failed.",
      in: "//div[@role='\(isGood ? "status" : "alert")']")
  }

  /// Adds somebody who is reminded.
  func addReceiver(
    _ name: String, channel: String, address: String, secret: String? = nil, language: String = "en"
  ) async throws {
    try await open("/settings/receivers/new?channel=\(channel)")
    try await fill("name", name)
    try await fill("address", address)
    if let secret { try await fill("secret", secret) }
    try await select("language", language)
    try await press("Save changes")
    try await sees("Receiver saved.")
  }

  /// Sends a test message from the list of receivers, and sees the answer.
  func testReceiver(_ name: String, answer: String, isGood: Bool = true) async throws {
    try await open("/settings/receivers")
    try await browser.click(xpath: "//button[@aria-label=\"Send a test message to \(name)\"]")
    try await sees(answer, in: "//div[@role='\(isGood ? "status" : "alert")']")
  }
}
