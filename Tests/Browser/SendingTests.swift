import Simulator
import Model
import Testing

@testable import signalbox

extension InBrowser {
  @Suite("Sending")
  struct SendingTests {
    private static let phone = "Ada’s iPhone"

    /// From the phone to the filled form.
    private func fillForm(_ scene: BrowserScene) async throws {
      try await scene.openPhone(Self.phone)
      try await scene.follow("Send a push", in: scene.phone(Self.phone))
      try await scene.heading("Send a push")
      try await scene.fill("title", "Your order")
      try await scene.fill("body", "{\"state\": \"on its way\"}")
    }

    private func seesOnPhone(_ scene: BrowserScene) async throws {
      try await scene.browser.wait(
        for: scene.phone(Self.phone)
          + "//div[@data-arrival][contains(.,'Your order')][contains(.,'on its way')]")
    }

    private func tap(_ scene: BrowserScene) async throws {
      try await scene.browser.click(xpath: scene.phone(Self.phone) + "//button[normalize-space()='Tap']")
      try await scene.browser.wait(for: "//section[.//*[@id='message']]//dt[.='Tapped']")
      #expect(
        scene.service.simulator?.phones.phones().first { $0.name == Self.phone }?.received.first?.tapped != nil)
    }

    @Test("with scripts: preview and checks while typing, progress and phone without a reload")
    func live() async throws {
      try await BrowserScene.run { scene in
        let browser = scene.browser
        try await fillForm(scene)
        try await browser.wait(for: "//*[@data-show='title'][.='Your order']")
        try await browser.wait(for: "//*[@data-show='body'][contains(.,'on its way')]")
        try await browser.wait(for: "//*[@data-show='headers'][contains(.,'apns-topic: com.example.shop')]")
        try await scene.sees("1 device in Shop (development)", in: "//*[@data-show='sentence']")
        try await scene.sees("This text is JSON", in: "//ul[@data-lint]/li")

        // A second tab looks at the phones meanwhile.
        let form = try await browser.window()
        try await browser.openTab()
        let phones = try await browser.window()
        try await scene.openPhone(Self.phone)
        try await browser.wait(for: scene.phone(Self.phone) + "[not(.//div[@data-arrival])]")
        _ = try await browser.run(script: "window.untouched = true")

        try await browser.go(toWindow: form)
        try await scene.press("Review")
        try await scene.heading("Review and send")
        try await scene.sees("This text is JSON")
        // Slow enough that the result page opens while the push is under way, whatever the machine.
        var slow = Faults()
        slow.delay = .seconds(3)
        scene.service.simulator?.faults(.development).set(slow)
        try await scene.press("Send to 1 device")
        try await browser.wait(for: "//main[.//section[@data-progress]]//h1[@data-live='sentence']")
        try await scene.seesFinished()
        try await scene.sees(count: 1, of: "accepted")
        try await scene.browser.wait(
          for: "//td[@class='row'][.//a[.=\"Ada’s iPhone\"]]/span[contains(.,'usr_ada')]")

        try await browser.go(toWindow: phones)
        try await seesOnPhone(scene)
        #expect(try await browser.run(script: "return window.untouched") as? Bool == true)
        try await tap(scene)
        // The phone reports by itself, and the result page counts it without a reload.
        try await browser.go(toWindow: form)
        try await browser.wait(for: "//b[@data-receipt='displayed'][.='1']")
        try await browser.wait(for: "//b[@data-receipt='opened'][.='1']")
        try await browser.wait(for: "//*[@data-receipt='opened_width'][@width='100.0%']")
        try await scene.sees("Reported by 1 of 1 device")
        // What was sent stands under the results, beside the phones: no column is left blank.
        let isBeside = """
          const box = (place) => document.querySelector(place).getBoundingClientRect();
          const [payload, aside] = [box('.payload'), box('main aside')];
          return payload.right <= aside.left;
          """
        #expect(try await browser.run(script: isBeside) as? Bool == true)
        // The keyboard goes through them as they stand.
        let isInOrder = """
          const tops = [...document.querySelectorAll('.result > *')].map((part) => part.getBoundingClientRect().top);
          return tops.every((top, at) => at === 0 || top >= tops[at - 1]);
          """
        #expect(try await browser.run(script: isInOrder) as? Bool == true)
        // Without results, they have the whole width.
        let isAlone = """
          for (const part of document.querySelectorAll('.result > .wide-stack section')) {
            if (part.closest('[data-funnel]')) part.parentElement.hidden = true; else part.remove();
          }
          const main = document.querySelector('main');
          return document.querySelector('.previews').getBoundingClientRect().left - main.getBoundingClientRect().left < 40;
          """
        #expect(try await browser.run(script: isAlone) as? Bool == true)
        #expect(try await browser.complaints() == [])
      }
    }

    @Test("the error of a pasted text stays when the preview, which does not read that text, has answered")
    func pastedError() async throws {
      try await BrowserScene.run { scene in
        try await fillForm(scene)
        try await scene.browser.click(xpath: "//details[@id='paste']/summary")
        try await scene.fill("pasted", "hello")
        try await scene.press("Fill in the form")
        // The page that comes back has no headers: the preview brings them.
        try await scene.browser.wait(for: "//*[@id='paste'][@open]//*[@id='pasted-error']")
        try await scene.browser.wait(for: "//*[@data-show='headers'][contains(.,'apns-topic: com.example.shop')]")
        try await scene.browser.wait(
          for: "//*[@id='pasted-error'][not(@hidden)][contains(.,'This is not a push')]")
      }
    }

    @Test("without scripts: the same by forms alone")
    func forms() async throws {
      try await BrowserScene.run(javaScript: false) { scene in
        try await fillForm(scene)
        try await scene.press("Review")
        try await scene.heading("Review and send")
        try await scene.sees("1 device in Shop (development)")
        try await scene.sees("This text is JSON")
        try await scene.press("Back to edit")
        try await scene.heading("Send a push")
        #expect(try await scene.browser.find("#title").attribute("value") == "Your order")
        try await scene.press("Review")
        var slow = Faults()
        slow.delay = .seconds(3)
        scene.service.simulator?.faults(.development).set(slow)
        try await scene.press("Send to 1 device")
        try await scene.browser.wait(for: "//section[@data-progress]")
        try await scene.seesFinished()
        try await scene.sees(count: 1, of: "accepted")
        try await scene.openPhone(Self.phone)
        try await seesOnPhone(scene)
        try await tap(scene)
      }
    }

    @Test("after a fault on purpose the push waits to be sent again, says why, and can be cancelled")
    func fault() async throws {
      try await BrowserScene.run { scene in
        try await scene.open("/phones")
        let form = "//form[@id='faults-development']"
        try await scene.browser.click(xpath: "//select[@id='fault-development']/option[@value='503']")
        try await scene.fill("count-development", "nonsense")
        try await scene.browser.click(xpath: form + "//button[.='Apply']")
        try await scene.sees("Enter a number from 1 to", beside: "count-development")
        try await scene.fill("count-development", "1")
        try await scene.browser.click(xpath: form + "//button[.='Apply']")
        try await scene.sees("Simulated errors are active: APNs, development: 503 ServiceUnavailable, 1 response left.")

        try await fillForm(scene)
        try await scene.press("Review")
        try await scene.press("Send to 1 device")
        try await scene.sees("1 device will be retried on")
        let reason = "//*[@class='cause'][.//*[contains(@class,'tag')][.='ServiceUnavailable']]"
        try await scene.browser.wait(for: reason + "//p[1][normalize-space(.)!='']")
        try await scene.browser.wait(for: reason + "//p[2][normalize-space(.)!='']")
        // What the push itself tells reaches the funnel before any app has reported: here with the pause's event.
        let pause = """
          document.querySelector('[data-receipt=target]').textContent = '';
          const form = document.querySelector("form[action$='/pause']");
          fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) });
          """
        _ = try await scene.browser.run(script: pause)
        try await scene.browser.wait(for: "//b[@data-receipt='target'][.='1']")
        try await scene.press("Cancel")
        try await scene.sees("Canceled")
        try await scene.sees("503 Cancelled (ServiceUnavailable)", in: "//tbody//td")
        try await scene.openPhone(Self.phone)
        try await scene.browser.wait(for: scene.phone(Self.phone) + "[not(.//div[@data-arrival])]")
      }
    }
  }
}
