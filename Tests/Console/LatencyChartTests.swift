import Foundation
import Store
import Testing

@testable import Console

@Suite("The chart of the time to answer")
struct LatencyChartTests {
  @Test(
    "large numbers are short enough to stand over a narrow bar",
    arguments: [
      (0, "0"), (999, "999"), (10_000, "10k"), (114_430, "114k"), (999_999, "999k"), (1_000_000, "1.0M"),
      (3_260_000, "3.2M"), (12_900_000, "12M"),
    ])
  func rounded(count: Int, text: String) {
    #expect(LatencyChart.rounded(count) == text)
  }
}
