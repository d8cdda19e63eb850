package import Model
import Synchronization

/// How long things took since the start, for `/metrics`. In memory: a restart begins anew, as Prometheus expects.
package final class ServiceTimes: Sendable {
  /// What took the time, and its labels.
  package enum Subject: Hashable, Sendable {
    /// An answer of the HTTP server: by what answered, and its status' first digit.
    case request(handler: Handler, status: Int)
    /// From a request to a push service to its answer.
    case answer(ProviderKind)
    /// A transaction, with the wait for its turn.
    case database(isWrite: Bool)
  }

  /// What answers a request, as a label.
  package enum Handler: String, Sendable {
    case page, api, asset, monitoring
    case pushAPI = "push_api"
    /// There was no route.
    case nothing = "none"
  }

  /// Times counted in buckets.
  package struct Histogram: Sendable {
    /// Inclusive upper bounds in seconds; longer times are in one more bucket.
    package static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    /// One count for each bound, and one for longer times.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// Seconds.
    package private(set) var sum = 0.0

    package init() {}

    package mutating func note(_ seconds: Double) {
      counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
      sum += seconds
    }

    fileprivate mutating func add(_ other: Histogram) {
      for index in counts.indices { counts[index] += other.counts[index] }
      sum += other.sum
    }
  }

  /// A handful of subjects, noted with every request: looked through quicker than hashed.
  private struct State {
    var subjects: [Subject] = []
    var histograms: [Histogram] = []

    mutating func index(of subject: Subject) -> Int {
      if let index = subjects.firstIndex(of: subject) { return index }
      subjects.append(subject)
      histograms.append(Histogram())
      return subjects.count - 1
    }
  }

  private let state = Mutex(State())

  package init() {}

  package var all: [Subject: Histogram] {
    state.withLock { Dictionary(uniqueKeysWithValues: zip($0.subjects, $0.histograms)) }
  }

  package func note(_ subject: Subject, _ duration: Duration) {
    let (seconds, atto) = duration.components
    state.withLock { $0.histograms[$0.index(of: subject)].note(Double(seconds) + Double(atto) * 1e-18) }
  }

  /// Notes the answers of push services; what was not sent has none.
  package func note(_ results: [DeliveryResult]) {
    var answers: [ProviderKind: Histogram] = [:]
    for result in results {
      switch result.outcome.kind {
      case .accepted, .failed, .deadToken:
        guard result.durationMilliseconds > 0 || result.outcome.kind == .accepted else { continue }
        answers[result.provider, default: Histogram()].note(Double(result.durationMilliseconds) / 1000)
      case .skipped, .unknown: continue
      }
    }
    guard !answers.isEmpty else { return }
    let found = answers
    state.withLock { state in
      for (provider, histogram) in found { state.histograms[state.index(of: .answer(provider))].add(histogram) }
    }
  }
}
