import Testing

@Suite("WebDriver", .enabled(if: WebDriver.isInstalled, "chromium and chromium-driver are not installed"))
struct WebDriverTests {
  @Test("the browser runs scripts, or does not, as asked", arguments: [true, false])
  func javaScript(enabled: Bool) async throws {
    try await WebDriver.run(javaScript: enabled) { browser in
      let page = "<p id=a>off</p><script>document.getElementById('a').textContent='on'</script>"
      try await browser.open("data:text/html," + page)
      #expect(try await browser.find("#a").text() == (enabled ? "on" : "off"))
    }
  }
}
