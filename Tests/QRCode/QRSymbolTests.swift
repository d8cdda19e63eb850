import QRCode
import Testing

@Suite("QR codes")
struct QRSymbolTests {
  /// The picture of a corner that scanners look for.
  private static let finder = ["#######", "#.....#", "#.###.#", "#.###.#", "#.###.#", "#.....#", "#######"]

  private func corner(_ symbol: QRSymbol, x: Int, y: Int) -> [String] {
    (y..<y + 7).map { row in String((x..<x + 7).map { symbol.isDark(x: $0, y: row) ? "#" : "." }) }
  }

  @Test("three corners are marked, and the timing pattern alternates between them")
  func corners() throws {
    let symbol = try #require(QRSymbol("https://push.example.com/"))
    let far = symbol.width - 7
    for (x, y) in [(0, 0), (far, 0), (0, far)] { #expect(corner(symbol, x: x, y: y) == Self.finder) }
    #expect(corner(symbol, x: far, y: far) != Self.finder)
    for x in 8..<(symbol.width - 8) { #expect(symbol.isDark(x: x, y: 6) == (x % 2 == 0)) }
  }

  /// ISO/IEC 18004 table 7: bytes that a version holds at level M.
  @Test("the smallest version that holds the text", arguments: [(14, 21), (15, 25), (26, 25), (27, 29), (2331, 177)])
  func sizes(length: Int, width: Int) throws {
    let text = String(repeating: "é", count: length / 2) + (length.isMultiple(of: 2) ? "" : "a")
    #expect(try #require(QRSymbol(text)).width == width)
  }

  @Test("what no symbol holds is refused", arguments: ["", "a\0b", String(repeating: "é", count: 1166)])
  func refused(text: String) { #expect(QRSymbol(text) == nil) }

  @Test("the path draws exactly the dark modules, inside the margin")
  func path() throws {
    let symbol = try #require(QRSymbol("otpauth://totp/Signalbox:lin@example.com?secret=GEZDGNBVGY3TQOJQ"))
    var drawn: Set<[Int]> = []
    for run in symbol.path.split(separator: "M") {
      let match = try #require(run.wholeMatch(of: #/(\d+) (\d+)h(\d+)v1h-(\d+)z/#), "\(run)")
      let (x, y, length) = (try #require(Int(match.1)), try #require(Int(match.2)), try #require(Int(match.3)))
      #expect(match.3 == match.4)
      for x in x..<x + length { #expect(drawn.insert([x, y]).inserted, "\(x) \(y) is drawn twice") }
    }
    let range = 0..<symbol.width
    let dark = range.flatMap { y in range.filter { symbol.isDark(x: $0, y: y) }.map { [$0 + 4, y + 4] } }
    #expect(drawn == Set(dark))
    #expect(symbol.side == symbol.width + 8)
  }
}
