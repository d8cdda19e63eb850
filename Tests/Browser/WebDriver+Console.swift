import Foundation

/// What the browser itself can tell and pretend, beyond the pages.
extension WebDriver {
  /// The first element that an XPath finds; waits until there is one.
  func find(xpath: String) async throws -> Element {
    try await find("xpath", xpath)
  }

  /// Clicks what an XPath finds.
  func click(xpath: String) async throws { try await whileStale { try await find(xpath: xpath).click() } }

  /// Uses what is found on the page. A page that brings itself up to date, or that gives way to the next one, may take
  /// it away in that very moment: then it is looked for again.
  func whileStale(_ use: () async throws -> Void) async throws {
    for _ in 0..<4 {
      do {
        return try await use()
      } catch let failure as Failure where failure.description.hasPrefix("stale element") {
        continue
      }
    }
    try await use()
  }

  /// Fails unless an XPath finds something within the driver's ten seconds.
  func wait(for xpath: String) async throws { _ = try await find(xpath: xpath) }

  /// What scripts and the browser wrote to the console since the last call: errors and warnings, also those of the
  /// content security policy. An answer with an error status, which the tests ask for on purpose, is not one.
  func complaints() async throws -> [String] {
    let entries = try await post("se/log", ["type": "browser"]) as? [[String: Any]] ?? []
    return entries.compactMap { entry in
      let message = entry["message"] as? String ?? ""
      let isBad = ["SEVERE", "WARNING"].contains(entry["level"] as? String)
      return isBad && !message.contains("the server responded with a status of 4") ? message : nil
    }
  }

  /// Shows pages as on a screen of another width, and in light or dark.
  func pretend(width: Int, height: Int = 900, dark: Bool) async throws {
    try await command(
      "Emulation.setDeviceMetricsOverride",
      ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false])
    try await command(
      "Emulation.setEmulatedMedia",
      ["features": [["name": "prefers-color-scheme", "value": dark ? "dark" : "light"]]])
  }

  /// Shows times as a clock in another zone has them, as `Asia/Kolkata`.
  func pretend(zone: String) async throws {
    try await command("Emulation.setTimezoneOverride", ["timezoneId": zone])
  }

  /// Shows pages in the few colors that a person chose, as contrast themes do, until ``pretend(width:height:dark:)``.
  func forceColors() async throws {
    try await command("Emulation.setEmulatedMedia", ["features": [["name": "forced-colors", "value": "active"]]])
  }

  /// Runs a script in every page from now on, before the page's own.
  func add(script: String) async throws {
    try await command("Page.addScriptToEvaluateOnNewDocument", ["source": script])
  }

  private func command(_ name: String, _ parameters: [String: Any]) async throws {
    _ = try await post("goog/cdp/execute", ["cmd": name, "params": parameters])
  }

  // MARK: Windows

  func window() async throws -> String { try await get("window") as? String ?? "" }

  /// Opens a further tab and goes to it.
  func openTab() async throws {
    let answer = try await post("window/new", ["type": "tab"]) as? [String: Any]
    try await go(toWindow: answer?["handle"] as? String ?? "")
  }

  func go(toWindow handle: String) async throws { _ = try await post("window", ["handle": handle]) }
}
