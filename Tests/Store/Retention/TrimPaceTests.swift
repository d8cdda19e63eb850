import Store
import Testing

@Suite struct TrimPaceTests {
  @Test("quick steps grow, slow ones shrink, both within bounds")
  func rows() {
    var pace = TrimPace()
    var rows = [pace.rows]
    for milliseconds in [1, 2, 3, 6, 1, 10, 25, 40, 60, 80, 100, 100, 100, 19] {
      _ = pace.after(took: .milliseconds(milliseconds), waited: .zero)
      rows.append(pace.rows)
    }
    #expect(rows == [200, 400, 800, 1600, 2000, 2000, 2000, 1000, 500, 250, 125, 62, 50, 50, 50])
  }

  @Test(
    "it rests nine times as long as it worked, and longer while somebody else writes",
    arguments: [(0, 0, 10), (1, 0, 10), (2, 0, 18), (20, 5, 180), (100, 0, 900), (2, 6, 200), (20, 6, 360)])
  func rest(took: Int, waited: Int, rest: Int) {
    var pace = TrimPace()
    let found = pace.after(took: .milliseconds(took), waited: .milliseconds(waited))
    #expect(found == .milliseconds(rest))
  }
}
