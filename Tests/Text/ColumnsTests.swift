import Testing
import Text

@Suite("Columns of a terminal")
struct ColumnsTests {
  @Test(
    "Chinese takes two columns a character", arguments: [("abc", 3), ("“a” – é", 7), ("环境", 4), ("（a）", 5), ("", 0)])
  func width(text: String, columns: Int) {
    #expect(text.columns == columns)
    #expect(text.padded(to: 8).columns == max(8, columns))
  }

  @Test("English wraps at blanks alone")
  func english() {
    #expect("one two three".wrapped(to: 9, indent: 2) == "  one two\n  three")
    #expect("one two three".wrapped(to: 7, indent: 0, further: 3) == "one two\n   three")
    #expect("“one-two”, three".wrapped(to: 4, indent: 0) == "“one-two”,\nthree")
    #expect("".wrapped(to: 9, indent: 2) == "  ")
  }

  @Test("Chinese wraps between characters, but begins no line with a comma and ends none with a bracket")
  func chinese() {
    #expect("列出、添加和删除应用。".wrapped(to: 8, indent: 0) == "列出、添\n加和删除\n应用。")
    #expect("默认（没有）值".wrapped(to: 6, indent: 0) == "默认\n（没\n有）值")
    #expect("使用 --data 选择".wrapped(to: 12, indent: 1) == " 使用 --data\n 选择")
  }
}
