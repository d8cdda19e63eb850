import Foundation
import Model
import SQLite
import Store
import Testing

@testable import signalbox

extension AdministrationInBrowser {
  @Suite("Layout")
  struct LayoutTests {
    /// The links, buttons and boxes of the page that are smaller than 24 px, and those that something else covers.
    private static let small = """
      const small = [];
      for (const one of document.querySelectorAll(arguments[0])) {
        const area = one.closest('label') ?? one;
        area.scrollIntoView({ block: 'center' });
        const box = area.getBoundingClientRect();
        const name = one.outerHTML.slice(0, 80);
        if (box.width < 24 || box.height < 24) small.push(`${name} ${box.width} × ${box.height}`);
        const hits = [box.left + 1, box.right - 1].map((x) => document.elementFromPoint(x, box.top + box.height / 2));
        if (!hits.every((hit) => area.contains(hit))) small.push(`${name} is covered`);
      }
      return small.concat(document.querySelector(arguments[0]) ? [] : ['nothing found']);
      """

    @Test("what a finger hits has 24 px: boxes of rows, breadcrumbs, and links beside headings")
    func targets() async throws {
      let targets = [("/devices", ".choose"), ("/devices/1", ".crumbs a"), ("/apps/1", ".crumbs a, .sec-head a")]
      try await BrowserScene.run { scene in
        for (path, selector) in targets {
          for width in [400, 1280] {
            try await scene.browser.pretend(width: width, dark: false)
            try await scene.open(path)
            let small = try await scene.browser.run(script: Self.small, selector) as? [String]
            #expect(small == [], "\(path) at \(width) px")
          }
        }
      }
    }

    @Test("a bar of the expiry timeline is hit 24 px wide, also on a phone")
    func bars() async throws {
      try await BrowserScene.run { scene in
        _ = try await scene.keep(scene.pushFile(daysLeft: 100))
        for width in [360, 1280] {
          try await scene.browser.pretend(width: width, dark: false)
          try await scene.open("/certificates")
          let small = try await scene.browser.run(script: Self.small, ".chart a") as? [String]
          #expect(small == [], "at \(width) px")
        }
      }
    }

    @Test("on a phone, what tells certificates of one name apart is whole")
    func certificates() async throws {
      let isWhole = """
        const lines = [...document.querySelectorAll('.expiring .row .cut')];
        return lines.length > 0 && lines.every((line) => line.scrollWidth <= line.clientWidth);
        """
      // In two lines at most, with its whole text for who hears it.
      let heights = """
        const lines = [...document.querySelectorAll('.expiring .row .cut')];
        return `${Math.max(...lines.map((line) => line.clientHeight / parseFloat(getComputedStyle(line).lineHeight)))}`;
        """
      try await BrowserScene.run { scene in
        _ = try await scene.keep(
          scene.pushFile(topic: "com.example.a-rather-long-name-of-an-app.that-is-still-longer.extension", daysLeft: 90)
        )
        try await scene.browser.pretend(width: 400, dark: false)
        try await scene.open("/certificates")
        #expect(try await scene.browser.run(script: isWhole) as? Bool == true)
        #expect(try await scene.browser.run(script: heights) as? String == "2")
        try await scene.browser.wait(for: "//td[@class='row']/p[contains(.,'still-longer.extension.voip')]")
      }
    }

    @Test("a phone of the shelf that gets the focus comes wholly into view")
    func shelf() async throws {
      let focus = """
        const [shelf, links] = [document.querySelector('.shelf'), document.querySelectorAll('.shelf a')];
        const edge = shelf.getBoundingClientRect().right;
        const cut = [...links].find((one) => one.getBoundingClientRect().right > edge);
        if (!cut) return 'none is cut';
        // A part of it is in view: such a link the browser leaves where it is.
        shelf.scrollLeft += cut.getBoundingClientRect().left + 20 - edge;
        cut.focus();
        return cut.getBoundingClientRect().right <= edge ? '' : 'still cut';
        """
      try await BrowserScene.run { scene in
        try await scene.browser.pretend(width: 400, dark: false)
        try await scene.open("/phones")
        #expect(try await scene.browser.run(script: focus) as? String == "")
      }
    }

    @Test("long names make no page wider than the screen, and never hide that something acts on production")
    func longNames() async throws {
      let wide = """
        const page = document.documentElement;
        return page.scrollWidth - page.clientWidth;
        """
      let cut = """
        const edge = (one) => one.getBoundingClientRect().right;
        return [...document.querySelectorAll('.env.production')].filter((one) => one.offsetParent)
          .filter((one) => edge(one) > edge(one.closest('td, li, p, h1') ?? document.body) + 1).map((one) => one.textContent);
        """
      try await BrowserScene.run { scene in
        let long = "Averyveryverylongnameofanappthatisstilllongerandlonger"
        try await scene.service.store.write { database in
          let app = try App.add(
            database, bundleID: "com.example.\(long.lowercased()).notificationserviceextension", name: long, now: Date()
          )
          try Credential.bind(
            database, app: app.id, provider: .apns, environment: .production, certificate: nil, endpoint: "simulator",
            now: Date())
          _ = try Device.register(
            database, app: app.id,
            [Registration(token: DeviceToken(bytes: Array(1...32)), environment: .production, platform: .ios)],
            now: Date())
          try database.run(
            """
            INSERT INTO reminders(item_key, fingerprint, step, item_name, claimed_at) VALUES ('certificates/1', '', 7, ?, 0)
            """, long + long)
          try database.run(
            """
            INSERT INTO reminder_messages(uid, channel, target, state, created_at, attempts, next_try_at, answer)
            VALUES ('m1', 'webhook', '127.0.0.1', 'pending', 0, 1, 99999999999999, ?)
            """, String(repeating: "Failed to connect to 127.0.0.1. ", count: 9))
          try database.run(
            """
            INSERT INTO reminder_message_items(message_id, reminder_id)
            SELECT max(m.id), max(r.id) FROM reminder_messages m, reminders r
            """
          )
        }
        for width in [1280, 400] {
          try await scene.browser.pretend(width: width, dark: false)
          for path in [
            "/", "/apps", "/apps/2", "/apps/2/edit", "/devices", "/devices?q=\(long)", "/settings/reminders",
            "/settings/tokens", "/search?q=a", "/pushes", "/audiences?app=com.example.\(long.lowercased())",
          ] {
            try await scene.open(path)
            #expect(try await scene.browser.run(script: wide) as? Int == 0, "\(path) at \(width) px")
            #expect(try await scene.browser.run(script: cut) as? [String] == [], "\(path) at \(width) px")
          }
        }
      }
    }

    @Test("the buttons below the form are seen in the order of the keyboard, and Enter in a field presses Review")
    func order() async throws {
      let order = """
        const lefts = [...document.querySelectorAll('.send-bar .actions > *')].map((one) => one.getBoundingClientRect().left);
        return lefts.length > 2 && lefts.every((left, place) => place === 0 || left > lefts[place - 1]);
        """
      try await BrowserScene.run { scene in
        try await scene.open("/pushes/new?app=com.example.shop")
        #expect(try await scene.browser.run(script: order) as? Bool == true)
        try await scene.choose("environment", "development")
        try await scene.choose("audience", "all")
        try await scene.fill("title", "Hello\u{e007}")
        try await scene.heading("Review and send")
        let shortcut = try await scene.browser.run(script: "return document.querySelector('kbd').textContent")
        #expect(shortcut as? String == "Ctrl K")
      }
    }

    @Test("beside the form no request is cut, and the kinds of an audience fill their lines")
    func form() async throws {
      let ragged = """
        const edge = document.querySelector('.who fieldset .seg').getBoundingClientRect().right;
        const ends = new Map();
        for (const label of document.querySelectorAll('.who fieldset:first-child > .seg > label')) {
          const { top, right } = label.getBoundingClientRect();
          ends.set(Math.round(top), Math.max(right, ends.get(Math.round(top)) ?? 0));
        }
        return [...ends.values()].filter((end) => edge - end > 4).map(String).concat(ends.size > 1 ? [] : ['one line']);
        """
      let cut = """
        document.querySelectorAll('aside details').forEach((part) => { part.open = true; });
        const shown = [...document.querySelectorAll('aside pre')].filter((one) => one.textContent);
        return shown.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.id)
          .concat(shown.length > 4 ? [] : ['too few']);
        """
      try await BrowserScene.run { scene in
        try await scene.open("/pushes/new?app=com.example.shop")
        try await scene.choose("environment", "development")
        try await scene.choose("audience", "all")
        try await scene.fill("title", "Hello")
        try await scene.browser.wait(for: "//pre[@data-show='payload'][contains(.,'Hello')]")
        for width in [360, 400, 1100, 1280] {
          try await scene.browser.pretend(width: width, dark: false)
          #expect(try await scene.browser.run(script: ragged) as? [String] == [], "at \(width) px")
          #expect(try await scene.browser.run(script: cut) as? [String] == [], "at \(width) px")
        }
      }
    }

    @Test("a menu closes by Escape, which gives the focus back, and by a click elsewhere")
    func menus() async throws {
      let isBack = "return document.activeElement.matches('.menu > summary') && !document.querySelector('.menu[open]')"
      try await BrowserScene.run { scene in
        try await scene.open("/apps/1")
        let open = "//details[contains(@class,'menu')][@open]"
        try await scene.browser.find(".menu > summary").click()
        try await scene.browser.wait(for: open)
        try await scene.browser.find(".menu-box button").type("\u{e00c}")
        #expect(try await scene.browser.run(script: isBack) as? Bool == true)
        try await scene.browser.find(".menu > summary").click()
        try await scene.browser.wait(for: open)
        try await scene.browser.find("h1").click()
        try await scene.browser.wait(for: "//details[contains(@class,'menu')][not(@open)]")
      }
    }

    @Test(
      "the order on a phone is that of the keyboard",
      arguments: [("/phones", ".faults tbody tr:first-child :is(select, input:not([type=hidden]), button)")])
    func sequence(path: String, selector: String) async throws {
      let order = """
        const boxes = [...document.querySelectorAll(arguments[0])].map((one) => one.getBoundingClientRect());
        return boxes.length > 2 && boxes.every((box, place) => {
          const last = boxes[place - 1];
          return !last || box.top >= last.bottom || box.left >= last.right;
        });
        """
      try await BrowserScene.run { scene in
        try await scene.browser.pretend(width: 400, dark: false)
        try await scene.open(path)
        #expect(try await scene.browser.run(script: order, selector) as? Bool == true, "\(path)")
      }
    }

    @Test("in forced colors, what is chosen differs from what is not")
    func forcedColors() async throws {
      let ground = """
        const ground = (one) => getComputedStyle(one).backgroundColor;
        const [chosen, other] = [arguments[0], arguments[1]].map((selector) => document.querySelector(selector));
        return chosen && other ? ground(chosen) !== ground(other) : false;
        """
      try await BrowserScene.run { scene in
        try await scene.browser.forceColors()
        for (path, chosen, other) in [
          ("/pushes", ".tabs [aria-current]", ".tabs a:not([aria-current])"),
          ("/pushes", ".nav [aria-current]", ".nav a:not([aria-current])"),
          ("/phones", ".shelf a[aria-current]", ".shelf a:not([aria-current], .button)"),
        ] {
          try await scene.open(path)
          let differs = try await scene.browser.run(script: ground, chosen, other) as? Bool
          #expect(differs == true, "\(chosen) of \(path)")
        }
        try await scene.open("/pushes/new")
        try await scene.choose("environment", "development")
        let differs =
          try await scene.browser.run(script: ground, ".seg label:has(:checked)", ".seg label:not(:has(:checked))")
          as? Bool
        #expect(differs == true)
      }
    }
  }
}
