import Foundation
import Glibc
import Model
import SQLite
import Store

/// Times the queries that pages and API use, on a database with very many rows.
struct RowsMeasure {
  typealias Query = (name: String, run: (Database, inout SystemRandomNumberGenerator) throws -> Void)

  let path: String
  let broadcasts: [(push: Int64, size: Int)]
  let devices: Int

  /// Times each query so often warm, and a few times cold, and tells p50 and p99 in ms.
  ///
  /// Cold: a new connection, and the file's pages given back to the system (`posix_fadvise`), which only a quiet file
  /// takes.
  ///
  /// - Returns: names of those whose p99 is above `limit` ms when warm.
  func run(rounds: Int, cold: Int, limit: Double) throws -> [String] {
    var slow: [String] = []
    var random = SystemRandomNumberGenerator()
    print("| query | warm p50, ms | warm p99, ms | cold p50, ms | cold max, ms |\n| --- | --- | --- | --- | --- |")
    for query in queries {
      var warmTimes: [Double] = []
      var coldTimes: [Double] = []
      for _ in 0..<cold {
        forgetPages()
        let pool = try DatabasePool(path: path, readers: 1)
        coldTimes.append(try time { try pool.readSync { try query.run($0, &random) } })
        pool.close()
      }
      let pool = try DatabasePool(path: path, readers: 1)
      for _ in 0..<3 { try pool.readSync { try query.run($0, &random) } }
      for _ in 0..<rounds { warmTimes.append(try time { try pool.readSync { try query.run($0, &random) } }) }
      pool.close()
      let (warm, chill) = (warmTimes.sorted(), coldTimes.sorted())
      if warm.quantile(0.99) > limit, query.name != Self.settings { slow.append(query.name) }
      print(
        "| \(query.name) | \(warm.quantile(0.5).text) | \(warm.quantile(0.99).text) | \(chill.quantile(0.5).text) |"
          + " \((chill.last ?? 0).text) |")
      fflush(nil)
    }
    return slow
  }

  /// For a page of settings, which may take longer.
  private static let settings = "what retention would remove (no bar)"

  private func time(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start) / .milliseconds(1)
  }

  private func forgetPages() {
    for file in [path, path + "-wal"] {
      let descriptor = open(file, O_RDONLY)
      guard descriptor >= 0 else { continue }
      posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
      Glibc.close(descriptor)
    }
  }

  private var queries: [Query] {
    let broadcasts = broadcasts
    let (devices, disaster) = (devices, broadcasts[max(0, broadcasts.count - 2)].push)
    func push(_ random: inout SystemRandomNumberGenerator) -> Int64 {
      broadcasts.randomElement(using: &random)?.push ?? 1
    }
    func deliveries(
      _ name: String, isDeep: Bool = true, disaster only: Bool = false,
      _ change: @escaping (inout DeliveryFilter) -> Void
    ) -> Query {
      (
        name,
        { database, random in
          var filter = DeliveryFilter()
          change(&filter)
          let cursor = isDeep ? String(Int.random(in: 0..<devices, using: &random)) : nil
          let id = only ? disaster : push(&random)
          _ = try Delivery.list(database, push: id, filter, cursor: cursor, limit: 50)
        }
      )
    }
    func pushes(_ name: String, _ change: @escaping (inout PushFilter) -> Void) -> Query {
      (
        name,
        { database, random in
          var filter = PushFilter()
          change(&filter)
          _ = try Push.list(database, filter, limit: 50)
        }
      )
    }
    return [
      deliveries("a push's devices, first page", isDeep: false) { _ in },
      deliveries("a push's devices, any page") { _ in },
      deliveries("accepted ones, any page") { $0.outcome = .accepted },
      deliveries("accepted ones, 60 at the end of a failure", isDeep: false, disaster: true) { $0.outcome = .accepted },
      deliveries("failed ones, any page") { $0.outcome = .failed },
      deliveries("for a reason, any page") { $0.reason = "Unregistered" },
      deliveries("for a rare reason, 14 of all", isDeep: false, disaster: true) { $0.reason = "TooManyRequests" },
      deliveries("for a reason, and failed", isDeep: false) { ($0.reason, $0.outcome) = ("BadDeviceToken", .failed) },
      deliveries("found by alias", isDeep: false) { $0.search = [.alias("user-\(Int.random(in: 0..<devices))")] },
      deliveries("found by 1 byte of the token", isDeep: false) { $0.search = [.token([.random(in: 0...255)])] },
      (
        "a device's pushes, first page",
        { database, random in
          let id = Int64.random(in: 1...Int64(devices), using: &random)
          _ = try Delivery.list(database, device: id, limit: 20)
        }
      ),
      (
        "a device's pushes, any page of 50",
        { database, random in
          let id = Int64.random(in: 1...Int64(devices), using: &random)
          _ = try Delivery.list(database, device: id, cursor: String(push(&random)), limit: 50)
        }
      ),
      (
        "summary of a push: counts, reasons, latencies, retry",
        { database, random in
          let id = push(&random)
          _ = try Push.get(database, id: id)
          _ = try Delivery.reasonCounts(database, push: id)
          _ = try LatencyHistogram.find(database, push: id)
          _ = try PushRepeat.find(database, push: id)
        }
      ),
      pushes("pushes, first page") { _ in },
      pushes("pushes, search that finds many") { $0.search = "order" },
      pushes("pushes, search that finds nothing") { $0.search = "no such text" },
      pushes("pushes, one state, few") { $0.states = [.failed] },
      pushes("pushes, environment and source") { ($0.environment, $0.source) = (.development, .web) },
      (
        "overview: 30 days, apps, counts",
        { database, random in
          _ = try AppOverview.all(database)
          _ = try Push.list(database, PushFilter(), limit: 10)
          _ = try Push.sums(database, from: Date() - 30 * 86_400, before: Date())
        }
      ),
      (
        Self.settings,
        { database, _ in _ = try Trim.due(database, RetentionPolicy(), now: Date()) }
      ),
    ]
  }
}

extension [Double] {
  /// Of sorted numbers.
  func quantile(_ share: Double) -> Double {
    isEmpty ? 0 : self[Swift.min(count - 1, Int((Double(count) * share).rounded(.down)))]
  }
}

extension Double {
  /// With two places.
  var text: String { String(format: "%.2f", self) }
}
