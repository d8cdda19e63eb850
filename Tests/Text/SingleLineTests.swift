import Testing
import Text

@Suite("A text in a single line")
struct SingleLineTests {
  @Test(
    "what turns the direction or is not seen is written out; line ends and controls are blanks; everything else stays",
    arguments: [
      ("Shop\u{202E}21p.exe", "Shop[U+202E]21p.exe"), ("a\u{2066}b\u{2069}", "a[U+2066]b[U+2069]"),
      ("\u{200E}\u{200F}\u{061C}", "[U+200E][U+200F][U+061C]"),
      ("a\u{200B}b\u{FEFF}c\u{00AD}", "a[U+200B]b[U+FEFF]c[U+00AD]"),
      ("a\u{2028}b", "a[U+2028]b"), ("a\u{E0041}b", "a[U+E0041]b"), ("a\r\nb\tc\u{1B}[2J\u{7F}", "a  b c [2J "),
      ("证书 ü Ж עברית العربية", "证书 ü Ж עברית العربية"), ("👩‍💻 ❤️ می‌خواهم", "👩‍💻 ❤️ می‌خواهم"), ("", ""), ("plain", "plain"),
    ])
  func shown(text: String, expected: String) {
    #expect(Array(text.singleLine.unicodeScalars) == Array(expected.unicodeScalars))
    #expect(text.singleLine.singleLine == text.singleLine)
  }

  @Test("every bidirectional control is written out")
  func all() {
    for value in [0x061C, 0x200E, 0x200F] + Array(0x202A...0x202E) + Array(0x2066...0x2069) {
      guard let scalar = Unicode.Scalar(UInt32(value)) else { continue }
      #expect(!String(Character(scalar)).singleLine.unicodeScalars.contains(scalar))
    }
  }
}
