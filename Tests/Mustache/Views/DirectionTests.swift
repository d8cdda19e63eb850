import Mustache
import Testing

/// What people write may run from right to left; the page's own words keep their order.
@Suite("Texts from right to left")
struct DirectionTests {
  static let arabic = "تخفيضات نهاية الأسبوع"

  private static func render(_ template: String, _ title: String) throws -> String {
    var page = ViewTests.Page()
    page.title = title
    return try ViewTests.render(template, page)
  }

  @Test(
    "a value is isolated where an element may stand",
    arguments: [
      ("<p>{{title}}, 3 of 4</p>", "<p><bdi>%</bdi>, 3 of 4</p>"),
      (
        "<a href=\"/x?a=1&amp;b='>'\" title=\"{{title}}\">{{title}}</a>",
        "<a href=\"/x?a=1&amp;b='>'\" title=\"%\"><bdi>%</bdi></a>"
      ),
      ("<title>{{title}}</title><h1>{{title}}</h1>", "<title>%</title><h1><bdi>%</bdi></h1>"),
      ("<textarea>{{title}}</textarea>{{title}}", "<textarea>%</textarea><bdi>%</bdi>"),
      (
        "<option value=\"{{title}}\">{{title}}</option><b>{{title}}</b>",
        "<option value=\"%\">%</option><b><bdi>%</bdi></b>"
      ),
      ("<svg class=\"a\"><text>{{title}}</text></svg>{{title}}", "<svg class=\"a\"><text>%</text></svg><bdi>%</bdi>"),
      ("<a class=\"title\" dir=\"auto\">{{title}}</a> {{title}}", "<a class=\"title\" dir=\"auto\">%</a> <bdi>%</bdi>"),
      ("<pre tabindex=\"0\">{{title}}</pre>", "<pre tabindex=\"0\">%</pre>"),
      ("<p>{{t.hello}}</p>", "<p>Hello &amp; welcome to <bdi>%</bdi></p>"),
      ("{{#live}}<i{{/live}} title='{{title}}'>{{title}}</i>", "<i title='%'><bdi>%</bdi></i>"),
    ])
  func places(template: String, expected: String) throws {
    #expect(try Self.render(template, Self.arabic) == expected.replacing("%", with: Self.arabic))
    #expect(try !Self.render(template, "Läden 你好 – “A” €").contains("<bdi>"), "others need nothing")
  }

  @Test(
    "scripts that run from right to left, and control characters",
    arguments: [
      ("שלום", true), ("a \u{202E}b", true), ("\u{2067}x", true), ("ܐ", true), ("ހ", true), ("ߊ", true), ("ࡀ", true),
      ("ﻼ", true), ("יִ", true), ("𐤀", true), ("𞤀", true), ("plain", false), ("你好。", false), ("Ծա", false),
      ("€ – …", false),
      ("नमस्ते", false), ("\u{FEFF}x", false), ("🎉", false), ("ﬁ", false), ("", false),
    ])
  func scripts(text: String, turns: Bool) {
    var text = text
    #expect(text.withUTF8 { Direction.turns($0) } == turns)
    #expect(Direction.isolated(text) == (turns ? "\u{2068}\(text)\u{2069}" : text))
  }
}
