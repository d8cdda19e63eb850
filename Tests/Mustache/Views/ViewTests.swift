import Mustache
import Testing

@Suite("Views bound to templates")
struct ViewTests {
  struct Frame: View {
    var csrf = "c0ffee"
    static let fields: [Field<Self>] = [.text("csrf") { $0.csrf }]
  }

  struct Tag: View {
    let name: String
    static let fields: [Field<Self>] = [.text("name") { $0.name }]
  }

  struct Page: TemplateView {
    static let template = "page"
    var title = "A < B"
    var count = 12_480
    var isLive = true
    var note: String?
    var tags: [Tag] = [Tag(name: "beta"), Tag(name: "vip & co")]
    var app: Tag? = Tag(name: "Shop")
    var words = ["one", "two"]
    static let fields: [Field<Self>] = [
      .text("title") { $0.title },
      .number("count") { $0.count },
      .flag("live") { $0.isLive },
      .optional("note") { $0.note },
      .list("tags") { $0.tags },
      .view("app") { $0.app },
      .list("words") { $0.words },
    ]
  }

  static let english = ViewLanguage(
    code: "en",
    texts: [
      "hello": .plain("Hello & welcome to {title}"), "left": .plural(["one": "1 day", "other": "{count} days"]),
      "broken": .plain("needs {nothing}"),
    ], form: { $0 == 1 ? "one" : "other" })

  static func render(_ template: String, _ page: Page = Page(), others: [String: String] = [:]) throws -> String {
    let sources = others.merging(["page": template]) { $1 }
    let library = try ViewLibrary(
      try TemplateLibrary(sources: sources, missingKey: .error), [english], frame: Frame.self, pages: [Page.self])
    var output = Output()
    library.page(page, Frame(), language: "en", into: &output)
    return String(decoding: output.array, as: UTF8.self)
  }

  @Test("what follows a text with plural forms belongs to each of them", arguments: [1, 2])
  func behindPlurals(count: Int) throws {
    var page = Page()
    page.count = count
    #expect(try Self.render("<b>{{t.left}}</b> left", page) == "<b>\(count) day\(count == 1 ? "" : "s")</b> left")
  }

  @Test(
    "writes what the view holds",
    arguments: [
      ("{{title}}|{{count}}|{{csrf}}", "A &lt; B|12,480|c0ffee"),
      ("{{#live}}on{{/live}}{{^live}}off{{/live}}", "on"),
      ("{{#note}}[{{note}}]{{/note}}{{^note}}none{{/note}}", "none"),
      (
        "{{#tags}}<i>{{name}} of {{title}}</i>{{/tags}}{{^tags}}none{{/tags}}",
        "<i>beta of A &lt; B</i><i>vip &amp; co of A &lt; B</i>"
      ),
      ("{{app.name}}{{#app}} {{name}}{{/app}}", "Shop Shop"),
      ("{{#words}}{{.}},{{/words}}", "one,two,"),
      ("{{t.hello}}! {{t.left}}", "Hello &amp; welcome to A &lt; B! 12,480 days"),
      ("{{#tags}}{{#app}}{{name}}{{/app}}{{/tags}}", "ShopShop"),
    ])
  func values(template: String, expected: String) throws {
    #expect(try Self.render(template) == expected)
  }

  @Test("a missing view writes nothing, one day is one day")
  func missing() throws {
    let page = Page(count: 1, isLive: false, tags: [], app: nil)
    #expect(
      try Self.render("[{{app.name}}]{{^tags}}none{{/tags}}{{t.left}}{{^live}}off{{/live}}", page) == "[]none1 dayoff")
  }

  @Test("partials, parents and blocks are put in when the template is bound")
  func composition() throws {
    let others = [
      "row": "<b>{{name}}</b>", "layout": "<title>{{$title}}?{{/title}}</title>{{$content}}{{/content}}",
      "field": "<label>{{$label}}{{/label}}</label>",
    ]
    let template = """
      {{<layout}}
      {{$title}}{{title}}{{/title}}
      {{$content}}
      {{#tags}}
        {{> row}}
      {{/tags}}
      {{<field}}{{$label}}{{t.left}}{{/label}}{{/field}}
      {{/content}}
      {{/layout}}
      """
    #expect(
      try Self.render(template, others: others)
        == "<title>A &lt; B</title><b>beta</b><b>vip &amp; co</b><label>12,480 days</label>")
  }

  @Test("content passed into a component keeps its own blocks, whatever the component's blocks are called")
  func scopes() throws {
    let others = [
      "callout": "<div>{{$icon}}info{{/icon}}: {{$body}}{{/body}}</div>",
      "button": "<b>{{<icon}}{{/icon}} {{$label}}?{{/label}}</b>", "icon": "<i>{{$icon}}dot{{/icon}}</i>",
    ]
    let template = """
      {{<callout}}
      {{$icon}}warn{{/icon}}
      {{$body}}{{<button}}{{$label}}Go{{/label}}{{/button}}{{<button}}{{$icon}}send{{/icon}}{{/button}}{{/body}}
      {{/callout}}
      """
    #expect(
      try Self.render(template, others: others)
        == "<div>warn: <b><i>dot</i> Go</b><b><i>send</i> ?</b></div>")
  }

  @Test(
    "a part of a component is there if a block is given and writes something",
    arguments: [
      ("{{<field}}{{/field}}", "<i></i>"), ("{{<field}}{{$hint}}{{/hint}}{{/field}}", "<i></i>"),
      ("{{<field}}{{$hint}}\n{{/hint}}{{/field}}", "<i></i>"),
      ("{{<field}}{{$hint}}so & so{{/hint}}{{/field}}", "<i described></i><p>so & so</p>"),
      ("{{<field}}{{$hint}}{{t.left}}{{/hint}}{{/field}}", "<i described></i><p>12,480 days</p>"),
      ("{{<field}}{{$hint}}{{#note}}{{note}}{{/note}}{{/hint}}{{/field}}", "<i></i>"),
      ("{{<field}}{{$hint}}{{note}}{{/hint}}{{/field}}!", "<i></i>!"),
      ("{{<field}}{{$hint}}{{^note}}none{{/note}}{{/hint}}{{/field}}", "<i described></i><p>none</p>"),
      (
        "{{#tags}}{{<field}}{{$hint}}{{#app}}{{name}}{{/app}}{{/hint}}{{/field}}{{/tags}}",
        "<i described></i><p>Shop</p><i described></i><p>Shop</p>"
      ), ("{{<select}}{{$hint}}{{title}}{{/hint}}{{/select}}", "<s described></s><p>A &lt; B</p>"),
      ("{{<select}}{{/select}}", "<s></s>"), ("{{<bare}}{{/bare}}", "none"),
      ("{{<bare}}{{$hint}}x{{/hint}}{{/bare}}", ""),
      ("{{<bare}}{{$hint}}{{note}}{{/hint}}{{/bare}}", "none"), ("{{> field}}", "<i></i>"),
    ])
  func filled(template: String, expected: String) throws {
    let others = [
      "field": "{{$control}}<i{{> described}}></i>{{/control}}{{> message}}",
      "described": "{{#$hint}} described{{/$hint}}", "bare": "{{^$hint}}none{{/$hint}}",
      "message": "{{#$hint}}\n<p>{{$hint}}{{/hint}}</p>\n{{/$hint}}",
      "select": "{{<field}}{{$control}}<s{{> described}}></s>{{/control}}{{/field}}",
    ]
    #expect(try Self.render(template, others: others) == expected)
  }

  @Test(
    "white space of the layout goes, white space of the text stays",
    arguments: [
      ("<ul>\n  <li>a</li>\n  <li>b</li>\n</ul>\n", "<ul><li>a</li><li>b</li></ul>"),
      ("<p>Some\n  text <b>bold</b> <i>it</i>\n  more</p>", "<p>Some text <b>bold</b> <i>it</i> more</p>"),
      ("<input\n  name=\"a\"\n  {{#live}}checked{{/live}}>", "<input name=\"a\" checked>"),
      ("<p>\n  {{title}}\n</p>", "<p> A &lt; B </p>"),
      ("<div>\n  {{#live}}\n    <b>x</b>\n  {{/live}}\n  <i>y</i>\n</div>", "<div><b>x</b><i>y</i></div>"),
      ("<pre>\n a\n  b\n</pre>\n<p>", "<pre>\n a\n  b\n</pre><p>"),
      ("<textarea>{{title}}\n</textarea>", "<textarea>A &lt; B\n</textarea>"),
    ])
  func whiteSpace(template: String, expected: String) throws {
    #expect(try Self.render(template) == expected)
  }

  @Test(
    "what a template gets wrong is said with its place, before anything is shown",
    arguments: [
      ("a\n {{nothing}}", "page.mustache:2:2: there is no “nothing” in Page, Frame"),
      ("{{t.nothing}}", "page.mustache:1:1: there is no text “nothing” in en"),
      ("{{t.broken}}", "page.mustache:1:1: the text “broken” needs “nothing”: there is no “nothing” in Page, Frame"),
      ("{{live}}", "page.mustache:1:1: “live” is true or false: it can only be used in a section"),
      ("{{tags}}", "page.mustache:1:1: “tags” is a view: it can only be used in a section"),
      ("{{tags.name}}", "page.mustache:1:1: “tags.name” leads through something that is not a view"),
      ("{{app.nothing}}", "page.mustache:1:1: there is no “nothing” in Tag"),
      ("{{{title}}}", "page.mustache:1:1: “title” is text: write it with two braces"),
      ("{{>*title}}", "page.mustache:1:1: a view's template cannot name another by a value"),
      ("{{#app}}{{>page}}{{/app}}", "page.mustache:1:9: templates are nested more than 64 levels deep"),
    ])
  func mistakes(template: String, message: String) throws {
    let error = #expect(throws: TemplateError.self) { try Self.render(template) }
    #expect(error?.description == message)
  }

  @Test(
    "numbers are written with their groups",
    arguments: [
      (0, "0"), (7, "7"), (999, "999"), (1000, "1,000"), (-12_480, "\u{2212}12,480"), (1_234_567, "1,234,567"),
    ])
  func numbers(number: Int, expected: String) throws {
    #expect(try Self.render("{{count}}", Page(count: number)) == expected)
    var output = Output(capacity: 1)
    output.write(number)
    #expect(String(decoding: output.array, as: UTF8.self) == String(number))
  }
}
