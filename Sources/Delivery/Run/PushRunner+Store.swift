import Foundation
import Model
import SQLite
import Store

/// The store's side of a run.
extension PushRunner {
  func answer(
    _ task: RunTask, _ opened: Opened, credentials: [ProviderKind: Int64], now: Date
  ) async throws -> RunEvent {
    let (id, store, query) = (id, tools.store, opened.query)
    switch task {
    case .reload: return .row(RunRow(try await store.read { try Push.get($0, id: id) }))
    case .setTrail(let number): return try await write { try Push.setTrail($0, id: id, number) }
    case .setHandedOut(let last, let provider):
      return try await write { try Push.setHandedOut($0, id: id, upTo: last, provider) }
    case .setAllReturned(let last): return try await write { try Push.setAllReturned($0, id: id, upTo: last) }
    case .take(let devices): return try await write { try WaitingDelivery.take($0, push: id, devices: devices) }
    case .record(let results): return try await record(results, opened.badges, credentials, now: now)
    case .end(let state, let error):
      return try await write { database in
        _ = try Push.move(database, id: id, from: [.sending, .paused], to: state, error: error, now: now)
        try Push.settle(database, id: id, now: now)
      }
    case .finish: return try await write { try Push.settle($0, id: id, now: now) }
    case .followTrail:
      let left = tools.trail?.left(by: id) ?? []
      let answer = try await writeWaits { try Push.follow($0, id: id, left: left, now: now) }
      tools.trail?.follow(push: id)
      return answer
    case .shift(let seconds): return try await writeWaits { try WaitingDelivery.shift($0, push: id, by: seconds) }
    case .countRepeats: return try await countRepeats(query, now: now)
    case .nextDue(let date, let provider):
      return .nextDue(
        try await store.read { try WaitingDelivery.nextDue($0, push: id, after: date, provider: provider) })
    case .page(let after, let upTo, let limit, let provider, let isUnanswered):
      guard let query = query?.of(provider) else { return .members([]) }
      return .members(
        try await store.read {
          let members = try query.page(
            $0, after: after, upTo: upTo, limit: limit, withoutDeliveriesOf: isUnanswered ? id : nil)
          return try opened.filled($0, members)
        })
    case .markedPage(let after, let upTo, let limit, let provider):
      guard let query = query?.of(provider) else { return .members([]) }
      return .members(
        try await store.read {
          try opened.filled($0, try query.markedPage($0, after: after, upTo: upTo, limit: limit, push: id))
        })
    case .due(let date, let limit, let provider):
      return .due(
        try await store.read {
          let due = try WaitingDelivery.due($0, push: id, provider: provider, now: date, limit: limit)
          return try opened.filled($0, due)
        })
    case .allWaiting(let limit, let provider):
      return .due(try await store.read { try WaitingDelivery.all($0, push: id, provider: provider, limit: limit) })
    case .interrupted(let limit):
      return .due(try await store.read { try WaitingDelivery.interrupted($0, push: id, limit: limit) })
    }
  }

  private func record(
    _ results: RunResults, _ badges: [Platform: Badge], _ credentials: [ProviderKind: Int64], now: Date
  ) async throws -> RunEvent {
    let id = id
    tools.store.store.times.note(results.results)
    let verdicts = results.verdicts.map { (credential: credentials[$0.provider] ?? 0, verdict: $0.verdict) }
    return try await write { database in
      try Delivery.record(
        database, push: id, results.results, waiting: results.waiting, cursor: results.cursor,
        cursors: results.cursors, handedOut: results.foreseen, badges: badges, verdicts: verdicts,
        holdUps: results.holdUps, now: now)
      for message in results.messages { try SentJPushMessage.add(database, message) }
      try Delivery.keep(database, names: results.names, push: id)
      try KeptAnswer.keep(database, results.answers, push: id)
      if results.repeats.total > 0 { try Push.note(database, id: id, repeats: results.repeats) }
    }
  }

  /// Counts the devices that the previous process may have sent to, and puts those that waited back into the queue.
  private func countRepeats(_ query: AudienceQuery?, now: Date) async throws -> RunEvent {
    let (id, window) = (id, tools.shares.window)
    return try await writeWaits { database in
      let push = try Push.get(database, id: id)
      var repeats = try WaitingDelivery.releaseInterrupted(database, push: id, dueAt: now)
      if let query, push.handedOut > push.cursor {
        // Each service has a window of its own.
        for provider in try Push.providers(database, id: id) {
          repeats.interrupted += try query.of(provider).page(
            database, after: push.cursor, upTo: push.handedOut, limit: window, withoutDeliveriesOf: id
          ).count
        }
      }
      if repeats.total > 0 { try Push.note(database, id: id, repeats: repeats) }
    }
  }

  private func write(_ body: @escaping @Sendable (Database) throws -> Void) async throws -> RunEvent {
    let id = id
    return .row(
      try await tools.store.write { database in
        try body(database)
        return RunRow(try Push.get(database, id: id))
      })
  }

  private func writeWaits(_ body: @escaping @Sendable (Database) throws -> Void) async throws -> RunEvent {
    let id = id
    let (row, due) = try await tools.store.write { database in
      try body(database)
      return (RunRow(try Push.get(database, id: id)), try WaitingDelivery.nextDue(database, push: id))
    }
    return .waits(row, nextDue: due)
  }
}

extension PushRunner.Opened {
  /// Adds what differs by device, if anything in the push does.
  fileprivate func filled(_ database: Database, _ members: [AudienceMember]) throws -> [AudienceMember] {
    let members = isCounted ? try DeviceBadge.fill(database, members) : members
    return try languages.map { try DeviceLanguage.fill(database, members, $0) } ?? members
  }

  fileprivate func filled(_ database: Database, _ due: [WaitingDelivery.Due]) throws -> [WaitingDelivery.Due] {
    let due = isCounted ? try DeviceBadge.fill(database, due) : due
    return try languages.map { try DeviceLanguage.fill(database, due, $0) } ?? due
  }

  private var isCounted: Bool { badges.values.contains(where: \.isRelative) }
}

extension AudienceQuery {
  /// The part of a service; nil: all.
  fileprivate func of(_ provider: ProviderKind?) -> AudienceQuery {
    var part = self
    part.provider = provider
    return part
  }
}
