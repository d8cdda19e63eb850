/// Decides which look-ups of host names run at a time. A value; ``BlockingPool`` runs them.
///
/// A look-up blocks a thread, for minutes if a name server does not answer. So nobody may take all threads: a name is
/// looked up once at a time, whoever waits for it; names that were found before go first; names that were not, or took
/// long, share a third of the threads; and of names that were never found, an owner has a few at a time.
struct LookUpDesk {
  struct Name: Hashable, Sendable {
    let host: String
    let port: UInt16
  }

  struct Errand: Sendable {
    let name: Name
    /// Whose connection asks first; 0: nobody's.
    let owner: Int64
    let run: @Sendable () -> Void
  }

  private enum Standing {
    case found, failed
  }

  /// Look-ups of one owner's new or failing names at a time.
  static let perOwner = 2
  /// More names are forgotten.
  private static let remembered = 1000

  let threads: Int
  private var standings: [Name: Standing] = [:]
  private var waiting: [Errand] = []
  private var running: [Name: Errand] = [:]

  init(threads: Int) { self.threads = threads }

  /// - Returns: the errands to be run now.
  mutating func add(_ errand: Errand) -> [Errand] {
    waiting.append(errand)
    return next()
  }

  /// - Parameter isGood: whether it was found, and soon.
  /// - Returns: the errands to be run now.
  mutating func ended(_ name: Name, isGood: Bool) -> [Errand] {
    running[name] = nil
    if standings.count >= Self.remembered, standings[name] == nil { standings = [:] }
    standings[name] = isGood ? .found : .failed
    return next()
  }

  private mutating func next() -> [Errand] {
    var taken: [Errand] = []
    while let place = first(of: .found) ?? first(of: nil) ?? first(of: .failed) {
      let errand = waiting.remove(at: place)
      running[errand.name] = errand
      taken.append(errand)
    }
    return taken
  }

  /// The first waiting errand of a standing that may run; nil standing: the name is new.
  private func first(of standing: Standing?) -> Int? {
    let strangers = running.values.filter { standings[$0.name] != .found }
    let most =
      switch standing {
      case .found: threads
      case nil: max(1, threads * 2 / 3)
      case .failed: max(1, threads / 3)
      }
    guard running.count < threads, standing == .found || strangers.count < most else { return nil }
    return waiting.firstIndex { errand in
      guard standings[errand.name] == standing else { return false }
      return standing == .found || errand.owner == 0 || strangers.count { $0.owner == errand.owner } < Self.perOwner
    }
  }
}
