import Model
import SQLite
import Simulator
import Store
import TestSupport
import Testing

@testable import signalbox

extension InBrowser {
  @Suite("What scripts add")
  struct LivelinessTests {
    private func script(_ scene: BrowserScene, _ text: String) async throws -> Bool {
      try await scene.browser.run(script: text) as? Bool == true
    }

    @Test("a draft survives leaving the form, and is gone when discarded or sent")
    func drafts() async throws {
      try await BrowserScene.run { scene in
        try await scene.open("/pushes/new")
        try await scene.choose("environment", "development")
        try await scene.choose("audience", "alias")
        try await scene.fill("alias", "usr_ada")
        try await scene.fill("body", "not finished yet")
        try await scene.follow("Devices", in: "//nav")
        try await scene.heading("Devices")
        try await scene.open("/pushes/new")
        try await scene.browser.wait(for: "//button[@data-draft-discard][not(@hidden)]")
        // A form that is not empty says why.
        try await scene.sees(
          "This is what you typed here and did not send", in: "//*[@data-draft-restored][not(@hidden)]")
        #expect(try await scene.value("alias") == "usr_ada")
        #expect(try await scene.value("body") == "not finished yet")
        #expect(try await scene.browser.find("input[name=audience][value=alias]").isSelected())
        try await scene.sees("1 device in Shop (development)", in: "//*[@data-show='sentence']")

        try await scene.press("Discard draft")
        try await scene.browser.wait(for: "//button[@data-draft-discard][@hidden]")
        try await scene.browser.wait(for: "//*[@data-draft-restored][@hidden]")
        #expect(try await scene.value("body") == "")
        #expect(try await script(scene, "return document.activeElement.form?.matches('[data-preview]')"))
        try await scene.open("/pushes/new")
        #expect(try await scene.value("alias") == "")

        try await scene.choose("environment", "development")
        try await scene.choose("audience", "alias")
        try await scene.fill("alias", "usr_ada")
        try await scene.fill("body", "finished")
        try await scene.press("Review")
        try await scene.press("Send to 1 device")
        try await scene.seesFinished()
        try await scene.open("/pushes/new")
        #expect(try await scene.value("body") == "")
        #expect(try await scene.browser.complaints() == [])
      }
    }

    @Test("signing out empties the other tabs, and a page whose session has ended leaves, with the draft kept")
    func sessionEnds() async throws {
      try await BrowserScene.run { scene in
        let browser = scene.browser
        let first = try await browser.window()
        try await scene.open("/pushes/new")
        try await scene.fill("body", "not finished yet")
        // The session ends on the server, and the person comes back to the tab.
        try await scene.service.store.write { _ = try $0.run("DELETE FROM sessions") }
        _ = try await browser.run(script: "document.dispatchEvent(new Event('visibilitychange'))")
        try await scene.sees("Your session has ended.")
        #expect(try await browser.address().contains("return=%2Fpushes%2Fnew"))
        #expect(try await script(scene, "return sessionStorage.getItem('signalbox.draft').includes('not finished')"))

        try await scene.fill("email", BrowserScene.name)
        try await scene.fill("password", BrowserScene.password)
        try await scene.press("Sign in")
        try await scene.heading("Send")
        try await scene.open("/pushes/new")
        #expect(try await scene.value("body") == "not finished yet")
        try await browser.openTab()
        try await scene.open("/devices")
        try await scene.press("Sign out")
        try await scene.heading("Sign in")
        try await browser.go(toWindow: first)
        try await scene.sees("You signed out in another tab.")
        #expect(try await script(scene, "return sessionStorage.getItem('signalbox.draft') === null"))
        #expect(try await scene.browser.complaints() == [])
      }
    }

    @Test("without a network the page stays when the undo window ends, and is read anew once there is one")
    func offline() async throws {
      try await BrowserScene.run(undoSeconds: 4) { scene in
        try await scene.open("/pushes/new")
        try await scene.choose("environment", "development")
        try await scene.choose("audience", "alias")
        try await scene.fill("alias", "usr_ada")
        try await scene.fill("body", "finished")
        try await scene.press("Review")
        try await scene.press("Send to 1 device")
        try await scene.browser.wait(for: "//*[@data-countdown]")
        _ = try await scene.browser.run(
          script: """
            window.asked = 0;
            window.network = window.fetch;
            window.fetch = () => { window.asked += 1; return Promise.reject(new TypeError('offline')); };
            """)
        try await scene.browser.wait(for: "//*[@data-countdown]/..//button[@disabled]")
        // Asked in vain, and the page is still there.
        _ = try await scene.browser.run(script: "document.title = 'waiting'")
        let asked = "return window.asked > 0 && document.title === 'waiting'"
        while try await scene.browser.run(script: asked) as? Bool != true {}
        _ = try await scene.browser.run(script: "window.fetch = window.network")
        try await scene.seesFinished()
      }
    }

    @Test("what somebody began to type is there again after a page has left with the end of its session")
    func typed() async throws {
      try await BrowserScene.run { scene in
        try await scene.open("/templates/new")
        try await scene.fill("name", "Half a na")
        try await scene.service.store.write { _ = try $0.run("DELETE FROM sessions") }
        _ = try await scene.browser.run(script: "document.dispatchEvent(new Event('visibilitychange'))")
        try await scene.sees("What you typed is kept")
        try await scene.fill("email", BrowserScene.name)
        try await scene.fill("password", BrowserScene.password)
        try await scene.press("Sign in")
        try await scene.sees("Not saved yet.")
        #expect(try await scene.value("name") == "Half a na")
      }
    }

    @Test("filters answer without a reload, and the address can be shared")
    func filters() async throws {
      try await BrowserScene.run { scene in
        try await scene.open("/devices")
        _ = try await scene.browser.run(script: "window.untouched = true")
        try await scene.fill("q", "usr_ada")
        try await scene.browser.wait(for: "//tbody[count(tr)=1]//td[contains(.,\"Ada’s iPhone\")]")
        #expect(try await scene.browser.address().hasSuffix("/devices?q=usr_ada"))
        try await scene.select("state", "dead")
        try await scene.sees("No devices match")
        #expect(try await script(scene, "return window.untouched"))
        let address = try await scene.browser.address()
        try await scene.browser.open(address)
        try await scene.sees("No devices match")
        #expect(try await scene.value("q") == "usr_ada")
        #expect(try await scene.value("state") == "dead")
        #expect(try await scene.browser.complaints() == [])
      }
    }

    @Test("what can be copied says so when it was")
    func copying() async throws {
      try await BrowserScene.run { scene in
        try await scene.open("/apps")
        try await scene.browser.click(xpath: "//main//a[@class='title'][contains(.,'Shop')]")
        let box = "(//div[@class='code'][.//pre[contains(.,'\(scene.service.url)/api/v1/')]])[1]"
        try await scene.browser.click(xpath: "\(box)//button[.='Copy']")
        try await scene.browser.wait(for: "\(box)//button[.='Copied']")
        try await scene.browser.wait(for: "\(box)//button[.='Copy']")
      }
    }

    @Test("a push under way is cancelled, and says so", arguments: [true, false])
    func cancelling(javaScript: Bool) async throws {
      try await BrowserScene.run(javaScript: javaScript) { scene in
        var slow = Faults()
        slow.delay = .seconds(4)
        scene.service.simulator?.faults(.development).set(slow)
        try await scene.open("/pushes/new?app=com.example.shop")
        try await scene.choose("environment", "development")
        try await scene.choose("audience", "tag")
        try await scene.fill("tag", "beta")
        try await scene.fill("body", "too early")
        try await scene.press("Review")
        try await scene.press("Send to 3 devices")
        try await scene.press("Cancel")
        try await scene.browser.wait(for: "//*[@data-live='state_text'][.='Canceled']")
        try await scene.browser.wait(for: "//main[not(.//button[normalize-space()='Cancel'])]")
      }
    }

    @Test("what a choice asks for is no error before its step is left; then its line is there, and nothing jumps")
    func errors() async throws {
      try await BrowserScene.run { scene in
        try await scene.open("/pushes/new?app=com.example.shop")
        try await scene.choose("environment", "development")
        let count = "performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/preview')).length"
        _ = try await script(scene, "window.answers = \(count)")
        try await scene.choose("audience", "device_token")
        try await waitUntil("the preview answers") { try await script(scene, "return \(count) > window.answers") }
        #expect(
          try await script(
            scene, "return [...document.querySelectorAll('p.error')].every((one) => one.offsetParent === null)"))
        let place = "document.getElementById('step-what').getBoundingClientRect().top + scrollY"
        _ = try await script(scene, "window.stood = \(place)")
        try await scene.fill("title", "Hello")
        try await scene.sees("Enter at least one recipient below.", beside: "audience")
        #expect(try await script(scene, "return \(place) === window.stood"))
        // A line that was not there is read out with what it is about.
        let described = """
          return document.querySelectorAll('fieldset[aria-describedby="audience-error"]').length === 1
            && document.getElementById('title').getAttribute('aria-describedby') === null;
          """
        #expect(try await script(scene, described))
      }
    }

    @Test("nothing moves when times become those of the viewer, whose zone has a longer name")
    func times() async throws {
      // As the server wrote the page, then as the script dresses it. A digit more or less may move what stands behind it.
      let moved = """
        return fetch(location.href).then((answer) => answer.text()).then((html) => {
          const main = document.querySelector('main');
          main.innerHTML = new DOMParser().parseFromString(html, 'text/html').querySelector('main').innerHTML;
          const written = main.querySelector('time[data-zoned]').textContent;
          const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT, (text) =>
            text.data.trim() && !text.parentElement.closest('time') ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP);
          const range = document.createRange();
          const place = (text) => {
            range.selectNode(text);
            const { left, top } = range.getBoundingClientRect();
            return [left, top];
          };
          const before = [];
          while (texts.nextNode()) before.push([texts.currentNode, place(texts.currentNode)]);
          main.dispatchEvent(new CustomEvent('refreshed', { bubbles: true }));
          const dressed = main.querySelector('time[data-zoned]').textContent;
          return [`${written.endsWith(' UTC')} ${dressed.endsWith(' GMT+5:30')}`].concat(
            before.filter(([text, was]) => place(text).some((at, axis) => Math.abs(at - was[axis]) > 16))
              .map(([text]) => text.data.trim()));
        });
        """
      try await BrowserScene.run { scene in
        _ = try await scene.keep(scene.pushFile(daysLeft: 29))
        try await scene.browser.pretend(zone: "Asia/Kolkata")
        for width in [400, 1280] {
          try await scene.browser.pretend(width: width, dark: false)
          try await scene.open("/certificates")
          #expect(try await scene.browser.run(script: moved) as? [String] == ["true true"], "at \(width) px")
        }
      }
    }

    @Test("the keyboard reaches the content at once")
    func keyboard() async throws {
      try await BrowserScene.run { scene in
        let (tab, enter) = ("\u{E004}", "\u{E007}")
        try await scene.open("/devices")
        try await scene.browser.find("body").type(tab)
        #expect(try await script(scene, "return document.activeElement.matches('a.skip')"))
        try await scene.browser.find("a.skip").type(enter)
        #expect(try await script(scene, "return document.activeElement.id === 'main'"))
        try await scene.browser.find("main").type(tab)
        #expect(try await script(scene, "return document.activeElement.closest('main .head') !== null"))

        // What comes next is what stands next.
        try await scene.open("/pushes/new")
        let order = """
          const left = [...document.querySelectorAll('.send-bar .actions > *')].map((one) => one.getBoundingClientRect().left);
          return left.length > 2 && left.every((place, index) => index === 0 || place > left[index - 1]);
          """
        #expect(try await script(scene, order))
      }
    }
  }
}
