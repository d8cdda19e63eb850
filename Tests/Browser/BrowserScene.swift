import Foundation
import Logging
import Reactor
import Synchronization
import Console
import Testing

@testable import signalbox

/// What people do in a browser while they send, one flow after the other: each has a whole Chromium to itself, and at
/// most three others beside it.
///
/// Two chains of flows and the two walks of ``PagesInBrowser``: whatever runs one after the other waits for all other
/// tests between two steps, so that a single chain would leave a core idle at the end.
@Suite(
  "Sending in a browser", .serialized,
  .enabled(if: WebDriver.isInstalled, "chromium and chromium-driver are not installed"))
enum InBrowser {}

/// What people do in a browser while they set up and look after an installation, one flow after the other.
@Suite(
  "Administration in a browser", .serialized,
  .enabled(if: WebDriver.isInstalled, "chromium and chromium-driver are not installed"))
enum AdministrationInBrowser {}

/// How every page looks to those who see or hear it otherwise: two long walks beside the flows.
@Suite(
  "Pages in a browser", .enabled(if: WebDriver.isInstalled, "chromium and chromium-driver are not installed"))
enum PagesInBrowser {}

/// The whole product in this process, with the demo, and a browser before it.
struct BrowserScene: Sendable {
  static let name = "lin@example.com"
  static let password = "correct horse battery"

  /// The folder with `Templates` and `Public`.
  static let resources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// Read once: binding every template in every language is most of a server's start.
  private static let views = Result {
    try Console.Resources(
      Console.Configuration(
        templates: resources + "/Templates", publicFiles: resources + "/Public", address: nil,
        version: Signalbox.version))
  }

  let service: Service
  let browser: WebDriver
  let folder: URL
  /// Whether axe is in every page.
  var isAudited = false
  let table = AuditTable()

  /// Starts both, signs in by the first-start link, and ends both on every path.
  ///
  /// - Parameters:
  ///   - host: the name by which people reach it, which the browser takes for this machine; mails have links to it. Nil:
  ///     by its address.
  ///   - audited: whether axe is put into every page.
  static func run(
    javaScript: Bool = true, signedIn: Bool = true, demo: Bool = true, undoSeconds: Int = 0, host: String? = nil,
    audited: Bool = false,
    clock: @escaping @Sendable () -> Date = { Date() }, _ body: (BrowserScene) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("signalbox-\(UUID().uuidString)")
    var options = Service.Options()
    options.data = DataDirectory(folder.path)
    options.listen = SocketAddress("127.0.0.1:0")
    options.resources = resources
    options.views = try views.get()
    options.isDemo = demo
    options.log = Logger(label: "signalbox", level: .error, sink: StreamSink.standardError(.text))
    options.passwordCost = .quickForTests
    options.clock = clock
    options.undoSeconds = undoSeconds
    options.address = host.map { "http://\($0)" }
    let service = try await Service(options)
    let result: Result<Void, any Error>
    do {
      let hosts = host.map { [$0: "\(service.address)"] } ?? [:]
      try await WebDriver.run(javaScript: javaScript, hosts: hosts) { browser in
        let axe = audited ? Axe.source : nil
        let scene = BrowserScene(service: service, browser: browser, folder: folder, isAudited: axe != nil)
        if let axe { try await browser.add(script: axe) }
        if signedIn { try await scene.setUp() }
        try await body(scene)
      }
      result = .success(())
    } catch {
      result = .failure(error)
    }
    await service.stop()
    try? FileManager.default.removeItem(at: folder)  // a left-over folder fails no test
    try result.get()
  }

  /// Chooses the first password by the one-time link.
  func setUp() async throws {
    let path = try #require(try await service.console.firstStartLink())
    try await open(path)
    try await fill("email", Self.name)
    try await fill("password", Self.password)
    try await fill("repeat", Self.password)
    try await press("Set password and sign in")
    try await heading("Overview")
  }

  // MARK: What a person does

  func open(_ path: String) async throws { try await browser.open(service.url + path) }

  func fill(_ id: String, _ text: String) async throws {
    try await browser.whileStale {
      let field = try await browser.find("#\(id)")
      try await field.clear()
      try await field.type(text)
    }
  }

  func press(_ label: String) async throws {
    try await browser.click(xpath: "//button[normalize-space()=\"\(label)\"]")
  }

  func follow(_ label: String, in place: String = "//main") async throws {
    try await browser.click(xpath: "\(place)//a[normalize-space()=\"\(label)\"]")
  }

  func choose(_ name: String, _ value: String) async throws {
    // The label: in a segmented control it covers its radio button.
    try await browser.click(xpath: "//label[.//input[@name='\(name)'][@value='\(value)']]")
  }

  func select(_ id: String, _ value: String) async throws {
    let isMeant = "@value='\(value)' or not(@value) and .='\(value)'"
    try await browser.click(xpath: "//*[@id='\(id)']/option[\(isMeant)]")
  }

  // MARK: What a person sees; each waits for it

  /// The page's name in the browser's tab. Headings may say how things stand, as “All clear” does on the Overview.
  func heading(_ text: String) async throws {
    try await browser.wait(for: "//head/title[starts-with(normalize-space(), \"\(text)\")]")
  }

  /// A text anywhere in the page's content.
  func sees(_ text: String, in place: String = "//main") async throws {
    // XPath knows no escapes.
    let quote = text.contains("\"") ? "'" : "\""
    try await browser.wait(for: "\(place)[contains(normalize-space(.), \(quote)\(text)\(quote))]")
  }

  /// A message beside a field.
  func sees(_ text: String, beside field: String) async throws {
    try await sees(text, in: "//p[@id='\(field)-error']")
  }

  func value(_ id: String) async throws -> String {
    let script = "return document.getElementById('\(id)').value"
    return try await browser.run(script: script) as? String ?? ""
  }

  /// One of the result page's numbers, as `accepted`.
  func sees(count: Int, of kind: String) async throws {
    try await browser.wait(
      for: "//ul[@class='key']//*[@data-live='\(kind)'][normalize-space()='\(count)']")
  }

  /// The result page of a push that has come to its end, and shows every row.
  func seesFinished() async throws {
    try await browser.wait(for: "//*[@data-live='state_text'][.='Finished']")
    try await browser.wait(for: "//section[.//*[@data-live='accepted']][not(@data-progress)]")
  }

  /// Where on the phones page the chosen phone is, as the beginning of an XPath.
  func phone(_ name: String) -> String { "//section[@id='stage'][.//*[@id='stage-name'][.=\"\(name)\"]]" }

  /// The phones page with this phone on its stage.
  func openPhone(_ name: String) async throws {
    try await open("/phones")
    try await choosePhone(name)
  }

  /// The same without leaving the phones page.
  func choosePhone(_ name: String) async throws {
    try await browser.click(xpath: "//nav[@class='shelf']/a[b[.=\"\(name)\"]]")
    try await browser.wait(for: phone(name))
  }
}

/// A clock that stands until it is moved.
final class StandingClock: Sendable {
  private let moment = Mutex(Date(timeIntervalSince1970: 1_900_000_000))

  var now: Date { moment.withLock { $0 } }

  func advance(_ seconds: TimeInterval) { moment.withLock { $0 += seconds } }
}
