import Foundation
import Model
import Store
import Testing

@testable import signalbox

extension InBrowser {
  @Suite("When and how")
  struct SchedulingTests {
    private func fillForm(_ scene: BrowserScene) async throws {
      try await scene.openPhone("Ada’s iPhone")
      try await scene.follow("Send a push", in: scene.phone("Ada’s iPhone"))
      try await scene.heading("Send a push")
      try await scene.fill("body", "Good morning")
    }

    @Test("within the undo window a push is taken back, with scripts and without", arguments: [true, false])
    func undo(javaScript: Bool) async throws {
      try await BrowserScene.run(javaScript: javaScript, undoSeconds: 60) { scene in
        try await fillForm(scene)
        try await scene.press("Review")
        try await scene.press("Send to 1 device")
        try await scene.sees("Sending in", in: "//*[@class='toast']")
        let focused = "return document.activeElement.textContent.trim()"
        #expect(try await scene.browser.run(script: focused) as? String == "Undo")
        if javaScript {
          try await scene.browser.wait(for: "//p[@role='status'][contains(., 'Sending in')]")
        }
        try await scene.press("Undo")
        try await scene.sees("Canceled before anything was sent")
        try await scene.browser.wait(for: "//*[@data-live='state_text'][.='Canceled']")
        try await scene.openPhone("Ada’s iPhone")
        try await scene.browser.wait(for: scene.phone("Ada’s iPhone") + "[not(.//div[@data-arrival])]")
      }
    }

    @Test("a weekly push by forms alone: review with the next times, schedule, pause, end")
    func weekly() async throws {
      try await BrowserScene.run(javaScript: false) { scene in
        try await fillForm(scene)
        try await scene.choose("when", "repeat")
        try await scene.select("every", "week")
        try await scene.choose("weekdays", "mon")
        try await scene.select("time_zone", "Europe/Berlin")
        try await scene.press("Review")
        try await scene.sees("This field is required.", beside: "at")
        _ = try await scene.browser.run(script: "document.getElementById('at').value = '09:00'")
        try await scene.press("Review")
        try await scene.sees("every week on Mon at 09:00, Europe/Berlin")
        try await scene.sees("09:00 Europe/Berlin (")
        try await scene.press("Schedule for 1 device")
        try await scene.sees("No runs yet")
        try await scene.press("Pause")
        try await scene.sees("Schedule paused.")
        try await scene.follow("End schedule")
        try await scene.press("End schedule")
        try await scene.sees("It sends no more pushes.")
        try await scene.follow("Edit as new")
        #expect(try await scene.browser.find("#at").attribute("value") == "09:00")
      }
    }

    @Test("with scripts: the browser's own zone is preset, and the next times are shown while one chooses")
    func live() async throws {
      try await BrowserScene.run { scene in
        try await fillForm(scene)
        let zone =
          try await scene.browser.run(
            script: "return Intl.DateTimeFormat().resolvedOptions().timeZone") as? String
        #expect(try await scene.value("time_zone") == zone)
        try await scene.choose("when", "repeat")
        try await scene.select("every", "day")
        try await scene.select("time_zone", "Asia/Shanghai")
        _ = try await scene.browser.run(
          script: """
            const field = document.getElementById('at');
            field.value = '09:00';
            field.dispatchEvent(new Event('input', { bubbles: true }));
            """)
        try await scene.sees("09:00 Asia/Shanghai (01:00 UTC)", in: "//*[@data-show='times']")
        #expect(try await scene.browser.complaints() == [])
      }
    }

    @Test("with scripts: a time within a sentence is the viewer's, with its zone")
    func zoned() async throws {
      let clock = StandingClock()
      try await BrowserScene.run(clock: { clock.now }) { scene in
        try await fillForm(scene)
        try await scene.choose("when", "at")
        try await scene.select("time_zone", "UTC")
        _ = try await scene.browser.run(script: "document.getElementById('send_at').value = '2030-03-19T09:00'")
        try await scene.press("Review")
        try await scene.browser.wait(for: "//main//time[@data-zoned]")
        let shown = try await scene.browser.run(
          script: """
            const time = document.querySelector('main time[data-zoned]');
            const parts = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' }).formatToParts(
              new Date(time.dateTime));
            const zone = parts.find(({ type }) => type === 'timeZoneName').value;
            return `${time.dateTime} ${time.textContent.endsWith(` ${zone}`)}`;
            """)
        #expect(shown as? String == "2030-03-19T09:00Z true")
        #expect(try await scene.browser.complaints() == [])
      }
    }

    @Test("with scripts: once more, a push for later stands in the zone that it was given in, not in the browser's")
    func again() async throws {
      let clock = StandingClock()
      try await BrowserScene.run(clock: { clock.now }) { scene in
        try await fillForm(scene)
        try await scene.choose("when", "at")
        try await scene.select("time_zone", "Asia/Shanghai")
        let type = "document.getElementById('send_at').value = "
        _ = try await scene.browser.run(script: type + "'2030-03-10T09:00'")
        try await scene.press("Review")
        try await scene.sees("10 Mar 2030, 09:00 Asia/Shanghai (01:00 UTC) is in the past", beside: "send_at")
        _ = try await scene.browser.run(script: type + "'2030-03-19T09:00'")
        try await scene.press("Review")
        try await scene.press("Schedule for 1 device")
        try await scene.sees("Scheduled for 19 Mar 2030, 09:00 Asia/Shanghai (01:00 UTC)")
        try await scene.follow("Edit and send again")
        try await scene.heading("Send a push")
        #expect(try await scene.value("send_at") == "2030-03-19T09:00")
        #expect(try await scene.value("time_zone") == "Asia/Shanghai")
        #expect(try await scene.browser.complaints() == [])
      }
    }
  }
}
