import Foundation
import JSON
import Store
import TestSupport
import Testing

@testable import signalbox

extension AdministrationInBrowser {
  @Suite("Mail")
  struct MailTests {
    @Test("a mail server is set up and tried: each refusal is told in the server's own words, and the mail arrives")
    func settings() async throws {
      let identity = try OpenSSLCommand()
      try identity.makeIdentity(subject: "/CN=localhost")
      var mode = SMTPTestServer.Mode()
      (mode.security, mode.identity) = ("starttls", identity.folder)
      (mode.user, mode.password) = ("box", "p4ss\"wörd")
      (mode.rejected, mode.failures) = (["gone@example.org"], 1)
      let server = try SMTPTestServer(mode)
      let trust = try identity.text("cert.pem")
      try await BrowserScene.run(demo: false) { scene in
        var typed = BrowserScene.TypedMailServer(port: 0, security: "starttls", user: "box")
        try await scene.keep(typed, isRight: false)
        try await scene.sees("The port must be a number from 1 to 65535.", beside: "port")
        try await scene.sees("Enter the user’s password.", beside: "password")
        #expect(try await scene.value("host") == "localhost")
        #expect(try await scene.value("user") == "box")
        try await scene.sees(
          "Links in messages begin with \(scene.service.url). If people reach Signalbox at another address")
        try await scene.audit("the mail server with mistakes")

        // Its certificate comes from nobody that this machine knows.
        (typed.port, typed.password) = (server.port, "wrong-secret")
        try await scene.keep(typed)
        try await scene.testMail(to: "ops@example.org", isGood: false)
        try await scene.sees("A trusted TLS connection could not be made.")
        typed.trust = trust
        try await scene.keep(typed)
        try await scene.testMail(to: "ops@example.org", isGood: false)
        try await scene.sees("The username or password was refused. 535 5.7.8")
        try await scene.audit("a mail server that refuses the password")
        let source = try await scene.browser.source()
        #expect(!source.contains("wrong-secret"), "a password is never shown again")

        typed.password = "p4ss\"wörd"
        try await scene.keep(typed)
        try await scene.fill("to", "nobody")
        try await scene.press("Send test")
        try await scene.sees("Must be an email address, e.g. ops@example.com.", beside: "to")
        try await scene.testMail(to: "gone@example.org", isGood: false)
        try await scene.sees("The recipient was refused. 550 5.1.1 <gone@example.org>: nobody of that name here")
        try await scene.testMail(to: "ops@example.org", isGood: false)
        try await scene.sees("451 4.3.0 come back later")
        #expect(try server.mails().isEmpty)
        try await scene.testMail(to: "ops@example.org", isGood: true)
        try await scene.sees("250 2.0.0 queued as 1")
        try await scene.audit("a mail server that took a mail")
        let mail = try #require(try server.mails().first)
        #expect(mail.to == ["ops@example.org"] && mail.from == "signalbox@example.com")
        #expect(mail.headers["from"] == "Signalbox <signalbox@example.com>")
        #expect(mail.headers["subject"] == "Signalbox: test message")
        #expect(mail.text?.contains("\(scene.service.url)/certificates") == true, "it links as reminders do")
        try await scene.auditMail(try #require(mail.html), "the test mail")
      }
    }

    /// Of a language: what its reminder says.
    private struct Words {
      let code: String
      let subject: String
      let button: String
      let all: String
      let left: String
      let environments: String
    }

    @Test("a certificate ends within 30 days: its mail arrives, looks right everywhere, and leads to the console")
    func reminder() async throws {
      let server = try SMTPTestServer()
      try await BrowserScene.run(host: "signalbox.localhost") { scene in
        try await scene.keep(BrowserScene.TypedMailServer(port: server.port))
        try await scene.addReceiver("Operations", channel: "email", address: "ops@example.org")
        try await scene.addReceiver("Lin", channel: "email", address: "lin@example.org", language: "zh-Hans")
        let name = String(repeating: "unbreakable", count: 12)
        _ = try await scene.keep(try scene.pushFile("other.p12", topic: "com.example.\(name)", daysLeft: 25))
        let id = try await scene.keep(try scene.pushFile(daysLeft: 20))
        try await scene.bind(id)

        let code = await CheckCertificatesCommand.notifying(
          data: scene.folder.path, days: 30, isJSON: false, address: scene.service.url,
          resources: BrowserScene.resources)
        #expect(code == 1)
        let english = Words(
          code: "en", subject: "2 certificates need renewal. First: Apple Push Services: com.example.shop",
          button: "Open in Signalbox", all: "All certificates", left: "20 days left",
          environments: "development, production")
        let chinese = Words(
          code: "zh-Hans", subject: "2 个证书需要更换，最紧急的是 Apple Push Services: com.example.shop", button: "在 Signalbox 中打开",
          all: "全部证书", left: "还剩 20 天", environments: "开发环境、生产环境")
        for (words, address) in [(english, "ops@example.org"), (chinese, "lin@example.org")] {
          let mails = try server.mails().filter { $0.to == [address] }
          #expect(mails.count == 1)
          let mail = try #require(mails.first)
          #expect(mail.headers["subject"]?.hasPrefix(words.subject) == true)
          try await scene.auditMail(try #require(mail.html), "the reminder in \(words.code)")
          #expect(try await scene.browser.run(script: "return document.documentElement.lang") as? String == words.code)
          try await scene.sees(words.left, in: "//body")
          try await scene.sees(words.environments, in: "//td")
          // As a person reads it: from the mail into the console, signed in as before.
          try await scene.follow(words.button, in: "//body")
          try await scene.heading("Apple Push Services: com.example.shop")
          #expect(try await scene.browser.address() == "\(scene.service.url)/certificates/\(id)")
          try await scene.auditMail(try #require(mail.html), "again")
          try await scene.follow(words.all, in: "//body")
          try await scene.heading("Certificates")
        }

        try await scene.open("/settings/reminders")
        for address in ["ops@example.org", "lin@example.org"] {
          let cells = "//section[@aria-labelledby='log']//tr[contains(., '\(address)')]"
          try await scene.sees("Apple Push Services: com.example.shop: 30 days before", in: cells)
          try await scene.browser.wait(for: cells + "//time[string-length(@datetime) > 15]")
          try await scene.browser.wait(for: cells + "//span[normalize-space()='Sent']")
          try await scene.sees("250 2.0.0 queued as", in: cells)
        }
        try await scene.sees("check-certificates --notify --data '/")
        try await scene.sees("--address http://signalbox.localhost")
        try await scene.audit("the log of what was sent")
        try await scene.open("/certificates/\(id)")
        try await scene.sees("lin@example.org")
        let fits = try await scene.fits("main .sent .table")
        #expect(fits, "it covers nothing of the other column")
      }
    }
  }
}
