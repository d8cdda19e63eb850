import Foundation
import Reactor
import TestSupport

/// A headless Chromium, driven over the WebDriver protocol (W3C) by Debian's chromedriver.
///
/// Finding an element waits for it, in the driver, up to ten seconds: no test sleeps.
final class WebDriver: Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  struct Element: Sendable {
    let id: String
    fileprivate let driver: WebDriver

    /// Clicks it in the middle of the window, as one scrolls: the driver clicks what lies there, also a bar that sticks
    /// to the window's edge.
    func click() async throws {
      let element = [WebDriver.elementKey: id]
      _ = try await driver.run(script: "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
      try await driver.post("element/\(id)/click")
    }

    func type(_ text: String) async throws { try await driver.post("element/\(id)/value", ["text": text]) }

    func clear() async throws { try await driver.post("element/\(id)/clear") }

    func text() async throws -> String { try await driver.get("element/\(id)/text") as? String ?? "" }

    func attribute(_ name: String) async throws -> String? {
      try await driver.get("element/\(id)/attribute/\(name)") as? String
    }

    func isSelected() async throws -> Bool { try await driver.get("element/\(id)/selected") as? Bool ?? false }
  }

  /// Present on this machine, or the tests that need them say that they were skipped.
  static let isInstalled = ["/usr/bin/chromium", "/usr/bin/chromedriver"].allSatisfy {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  private static let elementKey = "element-6066-11e4-a52e-4f735466cecf"

  private let process: Process
  private let base: URL
  private let session: String

  /// Runs `body` with a fresh browser profile and ends the browser on every path.
  ///
  /// - Parameter hosts: names that the browser takes for these addresses, as `127.0.0.1:4711`.
  static func run(
    javaScript: Bool = true, width: Int = 1280, height: Int = 1000, dark: Bool = false, language: String = "en",
    hosts: [String: String] = [:], _ body: (WebDriver) async throws -> Void
  ) async throws {
    let driver = try await WebDriver(
      javaScript: javaScript, width: width, height: height, dark: dark, language: language, hosts: hosts)
    do {
      try await body(driver)
    } catch {
      await driver.quit()
      throw error
    }
    await driver.quit()
  }

  private init(
    javaScript: Bool, width: Int, height: Int, dark: Bool, language: String, hosts: [String: String]
  ) async throws {
    let base: URL
    (process, base) = try Self.startDriver()
    var arguments = [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
      "--window-size=\(width),\(height)", "--lang=\(language)", "--disable-background-networking",
      "--no-first-run", "--disable-component-update", "--disable-sync",
    ]
    if dark { arguments.append("--blink-settings=preferredColorScheme=0") }
    // What no test looks at takes as long in each start as what it does look at: pages of the browser's own window, a
    // process in reserve for another site, extensions.
    arguments += ["--disable-extensions", "--disable-component-extensions-with-background-pages"]
    var unused = ["PreloadTopChromeWebUI", "SpareRendererForSitePerProcess", "OptimizationHints", "Translate"]
    if !hosts.isEmpty {
      arguments.append("--host-resolver-rules=" + hosts.map { "MAP \($0) \($1)" }.joined(separator: ","))
      // And does not try https first at names that it does not know.
      unused += ["HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable"]
    }
    // The last list alone would count of two.
    arguments.append("--disable-features=" + unused.joined(separator: ","))
    var preferences: [String: Any] = ["intl.accept_languages": language]
    if !javaScript { preferences["profile.managed_default_content_settings.javascript"] = 2 }
    let capabilities: [String: Any] = [
      "capabilities": [
        "alwaysMatch": [
          "browserName": "chrome",
          "goog:chromeOptions": ["binary": "/usr/bin/chromium", "args": arguments, "prefs": preferences],
          "goog:loggingPrefs": ["browser": "ALL"],
          "timeouts": ["implicit": 10_000, "pageLoad": 30_000],
        ]
      ]
    ]
    let answer: Any?
    do {
      answer = try await Self.exchange("POST", base.appendingPathComponent("session"), capabilities)
    } catch {
      Self.end(process)
      throw error
    }
    guard let id = (answer as? [String: Any])?["sessionId"] as? String else {
      Self.end(process)
      throw Failure(description: "no WebDriver session: \(String(describing: answer))")
    }
    self.base = base
    session = id
  }

  /// Starts chromedriver, and reads from it where it listens. It takes a port that is free on IPv6 and ends if the same
  /// one is not free on IPv4: then it is asked again, a few times.
  private static func startDriver() throws -> (process: Process, base: URL) {
    var said = ""
    for _ in 0..<5 {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/chromedriver")
      process.arguments = ["--port=0"]
      let output = Pipe()
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      said = ""
      while case let chunk = output.fileHandleForReading.availableData, !chunk.isEmpty {
        said += String(decoding: chunk, as: UTF8.self)
        if let port = said.firstMatch(of: /started successfully on port (\d+)/)?.1,
          let base = URL(string: "http://127.0.0.1:\(port)/")
        {
          return (process, base)
        }
      }
    }
    throw Failure(description: "chromedriver ended: \(said)")
  }

  private func quit() async {
    // Whatever goes wrong here, the process is ended below.
    _ = try? await Self.exchange("DELETE", base.appendingPathComponent("session/\(session)"), nil)
    end()
  }

  /// Debian's chromedriver stays alive on SIGTERM.
  private func end() { Self.end(process) }

  private static func end(_ process: Process) {
    // Foundation waits for it. Waiting here too could mean to wait for a program of another test.
    kill(process.processIdentifier, SIGKILL)
  }

  // MARK: Pages

  func open(_ address: String) async throws { try await post("url", ["url": address]) }

  func address() async throws -> String { try await get("url") as? String ?? "" }

  func title() async throws -> String { try await get("title") as? String ?? "" }

  func source() async throws -> String { try await get("source") as? String ?? "" }

  /// The first element that the selector finds; waits until there is one.
  func find(_ selector: String) async throws -> Element { try await find("css selector", selector) }

  /// The first element whose text contains `text`; waits until there is one.
  func find(text: String, in selector: String = "*") async throws -> Element {
    let path = "//\(selector)[contains(normalize-space(.), \"\(text)\")]"
    return try await find("xpath", path)
  }

  /// Tests that compute on every core may keep the console from answering for longer than the driver waits: then it
  /// looks once more, and says what is on the page.
  func find(_ strategy: String, _ value: String) async throws -> Element {
    let query = ["using": strategy, "value": value]
    do {
      return try element(try await post("element", query))
    } catch let failure as Failure where failure.description.hasPrefix("no such element") {
      let script = "return document.title + ': ' + document.querySelector('main')?.innerText.slice(0, 500)"
      let page = try await run(script: script) as? String ?? ""
      do {
        return try element(try await post("element", query))
      } catch {
        throw Failure(description: "\(error)\nThe page was “\(page)”.")
      }
    }
  }

  func findAll(_ selector: String) async throws -> [Element] {
    let answer = try await post("elements", ["using": "css selector", "value": selector])
    return try (answer as? [Any] ?? []).map(element)
  }

  func run(script: String, _ arguments: Any...) async throws -> Any? {
    try await post("execute/sync", ["script": script, "args": arguments])
  }

  /// A picture of the window, as PNG.
  func screenshot() async throws -> Data {
    guard let text = try await get("screenshot") as? String, let data = Data(base64Encoded: text) else {
      throw Failure(description: "no screenshot")
    }
    return data
  }

  func resize(width: Int, height: Int) async throws {
    try await post("window/rect", ["width": width, "height": height])
  }

  // MARK: The protocol

  func element(_ answer: Any?) throws -> Element {
    guard let id = (answer as? [String: Any])?[Self.elementKey] as? String else {
      throw Failure(description: "no element in \(String(describing: answer))")
    }
    return Element(id: id, driver: self)
  }

  @discardableResult
  func post(_ path: String, _ body: [String: Any] = [:]) async throws -> Any? {
    try await Self.exchange("POST", base.appendingPathComponent("session/\(session)/\(path)"), body)
  }

  func get(_ path: String) async throws -> Any? {
    try await Self.exchange("GET", base.appendingPathComponent("session/\(session)/\(path)"), nil)
  }

  /// One exchange over a connection of its own; curl or URLSession would be a process, or stumble over chromedriver's
  /// answers ("Failed writing header").
  private static func exchange(_ method: String, _ address: URL, _ body: [String: Any]?) async throws -> Any? {
    let content = try body.map { try JSONSerialization.data(withJSONObject: $0) } ?? Data()
    let data = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Data, any Error>) in
      DispatchQueue.global().async { continuation.resume(with: Result { try call(method, address, content) }) }
    }
    guard let answer = try JSONSerialization.jsonObject(with: data) as? [String: Any] else {
      throw Failure(description: "not a WebDriver answer")
    }
    if let value = answer["value"] as? [String: Any], let error = value["error"] as? String {
      throw Failure(description: "\(error): \(value["message"] as? String ?? "") at \(address.path)")
    }
    return answer["value"]
  }

  /// - Returns: the answer's body.
  private static func call(_ method: String, _ address: URL, _ body: Data) throws -> Data {
    let authority = "127.0.0.1:\(address.port ?? 0)"
    guard let chromedriver = SocketAddress(authority) else { throw Failure(description: "no address: \(authority)") }
    let socket = try PlainSocket(chromedriver, seconds: 90)
    defer { socket.close() }
    let lines = [
      "\(method) \(address.path) HTTP/1.1", "Host: \(authority)", "Connection: close",
      "Content-Type: application/json; charset=utf-8", "Content-Length: \(body.count)", "", "",
    ]
    guard socket.send(lines.joined(separator: "\r\n")), socket.send(Array(body)) else {
      throw Failure(description: "chromedriver closed the connection at \(address.path)")
    }
    var answer: [UInt8] = []
    while let bytes = socket.receive() {
      answer += bytes
      guard let end = answer.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
      let head = String(decoding: answer[..<end.lowerBound], as: UTF8.self)
      guard let length = head.firstMatch(of: /(?i)content-length: *(\d+)/).flatMap({ Int($0.1) }) else { break }
      if answer.count - end.upperBound >= length { return Data(answer[end.upperBound...].prefix(length)) }
    }
    throw Failure(description: "no answer from chromedriver at \(address.path)")
  }
}
