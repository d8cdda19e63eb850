import Mustache
import Testing

@Suite("Templates")
struct TemplateTests {
  private func library(_ sources: [String: String]) throws -> TemplateLibrary {
    try TemplateLibrary(sources: sources, missingKey: .error)
  }

  @Test(
    "a template that cannot be compiled says where and why",
    arguments: [
      ("a\n{{#x}}\n", 3, 1, "“x”, opened at line 2, column 1, is not closed"),
      ("a {{/x}}", 1, 3, "closes nothing"), ("{{#x}}{{/y}}", 1, 7, "does not close “x”"),
      ("ä {{x", 1, 3, "not closed"), ("{{=x=}}", 1, 1, "two delimiters"), ("{{}}", 1, 1, "needs a name"),
      ("{{a b}}", 1, 1, "white space"), ("\n {{> nowhere}}", 2, 2, "no template “nowhere”"),
    ])
  func errors(source: String, line: Int, column: Int, message: String) throws {
    let error = #expect(throws: TemplateError.self) { try library(["t": source]) }
    #expect(error?.line == line)
    #expect(error?.column == column)
    #expect(error?.message.contains(message) == true, "\(error?.description ?? "")")
  }

  @Test(
    "a missing value is an error with its place, null is not",
    arguments: ["{{x}}", "{{#x}}{{/x}}", "{{^x}}{{/x}}", "{{a.x}}"])
  func missing(source: String) throws {
    let error = #expect(throws: TemplateError.self) {
      try library(["dir/t": "1\n" + source]).render("dir/t", ["a": [:] as Value])
    }
    #expect(error?.description.hasPrefix("dir/t.mustache:2:1: there is no value “") == true)
    #expect(try library(["t": source]).render("t", ["x": nil, "a": ["x": nil]]) == "")
  }

  @Test("text is escaped for HTML, in attributes too")
  func escaping() throws {
    let page = try library(["t": "<a title=\"{{x}}\">{{{x}}}{{&x}}"]).render("t", ["x": "<\"'&>"])
    #expect(page == "<a title=\"&lt;&quot;&#39;&amp;&gt;\"><\"'&><\"'&>")
  }

  @Test("numbers are written without an empty fraction")
  func numbers() throws {
    #expect(try library(["t": "{{a}} {{b}} {{c}}"]).render("t", ["a": 1, "b": 2.0, "c": 2.5]) == "1 2 2.5")
  }

  @Test("a list written as text is a mistake, not text")
  func list() throws {
    #expect(throws: TemplateError.self) { try library(["t": "{{x}}"]).render("t", ["x": [1]]) }
  }

  @Test("recursion ends with the data; endless recursion is an error")
  func recursion() throws {
    let tree = try library(["t": "{{n}}{{#more}}({{> t}}){{/more}}"])
    let data: Value = ["n": 1, "more": [["n": 2, "more": [["n": 3, "more": []]]]]]
    #expect(try tree.render("t", data) == "1(2(3))")
    let endless = try library(["t": "{{> t}}"])
    #expect(throws: TemplateError.self) { try endless.render("t", [:]) }
  }

  @Test("pages inherit their layout, whose blocks may hold partials of folders")
  func inheritance() throws {
    let pages = try library([
      "layout": "<title>{{$title}}Signalbox{{/title}}</title>\n{{$content}}{{/content}}",
      "pushes/show":
        "{{<layout}}{{$title}}{{name}}{{/title}}{{$content}}{{#rows}}{{> pushes/_row}}{{/rows}}{{/content}}{{/layout}}",
      "pushes/_row": "<td>{{.}}</td>",
    ])
    #expect(
      try pages.render("pushes/show", ["name": "A&B", "rows": [1, 2]]) == "<title>A&amp;B</title>\n<td>1</td><td>2</td>"
    )
  }

  @Test("a part is there if a block is given and writes something")
  func filled() throws {
    let pages = try library([
      "field": "<i>{{#$hint}}[{{$hint}}{{/hint}}]{{/$hint}}{{^$hint}}none{{/$hint}}</i>",
      "t": "{{<field}}{{$hint}}{{x}}{{/hint}}{{/field}}{{<field}}{{/field}}",
    ])
    #expect(try pages.render("t", ["x": "a"]) == "<i>[a]</i><i>none</i>")
    #expect(try pages.render("t", ["x": nil]) == "<i>none</i><i>none</i>")
  }

  @Test("an unknown template is an error")
  func unknown() throws {
    #expect(throws: TemplateError.self) { try library([:]).render("t", [:]) }
  }
}
