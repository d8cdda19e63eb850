import Store
import Testing

@testable import Console

@Suite("The chart of the response times")
struct LatencyChartTests {
  @Test("bars reach from one bucket before the first answer to one behind the last; gaps stay")
  func bars() {
    var histogram = LatencyHistogram()
    histogram.counts[2] = 4
    histogram.counts[5] = 1
    let bars = LatencyChart(histogram).bars
    #expect(bars.map(\.count) == [0, 4, 0, 0, 1, 0])
    #expect(bars.map(\.time) == ["≤ 10 ms", "≤ 20 ms", "≤ 35 ms", "≤ 50 ms", "≤ 75 ms", "≤ 100 ms"])
    #expect(bars.map(\.height) == [0, 10_000, 0, 0, 2500, 0], "the highest fills the picture")
  }

  @Test("what took longer than all bounds has the last bar")
  func beyond() {
    var histogram = LatencyHistogram()
    histogram.counts[LatencyHistogram.bounds.count] = 1
    #expect(LatencyChart(histogram).bars.map(\.time) == ["≤ 30 s", "> 30 s"])
  }
}
