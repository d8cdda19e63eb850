package import Foundation
import JSON
package import Model
package import Providers
import SQLite
package import Store

/// Creates, reads, lists and deletes an app's broadcast channels at APNs, and keeps what is known of them in the store.
/// The page, the API and the command line all use it.
package struct ChannelKeeper: Sendable {
  /// Makes one request to APNs with the app's credential.
  package typealias Ask = @Sendable (ChannelRequest, App, Environment) async throws -> ChannelReply

  private let store: Store
  private let ask: Ask

  package init(store: Store, ask: @escaping Ask) { (self.store, self.ask) = (store, ask) }

  /// Creates it at Apple first, then here.
  ///
  /// - Throws: `ServiceRefusal`, ``NoRoute``.
  package func create(
    _ policy: ChannelPolicy, name: String, app: App, _ environment: Environment, by author: KeeperAuthor
  ) async throws -> Channel {
    guard case .created(let id) = try await ask(.create(policy), app, environment) else { throw unreadable }
    return try await store.write { database in
      let channel = try Channel.keep(
        database, app: app.id, environment: environment, channel: id, policy: policy, name: name, by: author.actor,
        now: author.now)
      try author.note(database, "channel.create", app, environment, ["channel": .string(id)])
      return channel
    }
  }

  /// Asks Apple for the complete list, and compares it with what is known: channels that others made are added, those
  /// that are missing are marked.
  ///
  /// - Throws: as ``create(_:name:app:_:by:)``.
  package func list(app: App, _ environment: Environment, now: Date) async throws -> [Channel] {
    guard case .channels(let listed) = try await ask(.list, app, environment) else { throw unreadable }
    return try await store.write { database in
      try Channel.reconcile(database, app: app.id, environment: environment, listed: listed, now: now)
      return try Channel.all(database, app: app.id, environment: environment)
    }
  }

  /// Reads a channel's policy at Apple.
  ///
  /// - Throws: as ``create(_:name:app:_:by:)``.
  package func read(_ id: String, app: App, _ environment: Environment, now: Date) async throws -> Channel {
    guard case .policy(let policy) = try await ask(.read(id), app, environment) else { throw unreadable }
    return try await store.write { database in
      try Channel.keep(database, app: app.id, environment: environment, channel: id, policy: policy, by: nil, now: now)
    }
  }

  /// Deletes a channel at Apple, and forgets it. One that Apple does not know any more is only forgotten.
  ///
  /// - Throws: as ``create(_:name:app:_:by:)``.
  package func delete(_ id: String, app: App, _ environment: Environment, by author: KeeperAuthor) async throws {
    let isKnown = try await store.read {
      try Channel.find($0, app: app.id, environment: environment, channel: id) != nil
    }
    do {
      _ = try await ask(.delete(id), app, environment)
    } catch let refusal as ServiceRefusal where isKnown && refusal.reason == Reason.channelNotRegistered {
      // Somebody else has deleted it.
    }
    try await store.write { database in
      try Channel.remove(database, app: app.id, environment: environment, channel: id)
      try author.note(database, "channel.delete", app, environment, ["channel": .string(id)])
    }
  }

  private var unreadable: ServiceRefusal { ServiceRefusal(status: 0, reason: OwnReason.unreadableAnswer.rawValue) }
}

/// Who changes something at a push service, and when, for the activity log. ``ChannelKeeper``, ``TopicKeeper`` and
/// ``JPushKeeper`` ask for it.
package struct KeeperAuthor: Sendable {
  let actor: String
  /// The client's; nil: this machine.
  let address: String?
  let now: Date

  package init(_ actor: String, from address: String? = nil, now: Date) {
    (self.actor, self.address, self.now) = (actor, address, now)
  }

  /// Adds an entry to the activity log, with the app as its subject.
  func note(
    _ database: Database, _ action: String, _ app: App, _ environment: Environment, _ detail: [String: JSONValue]
  ) throws {
    let detail = detail.merging(["environment": .string(environment.rawValue)]) { $1 }
    try AuditEntry.add(database, by: actor, action, "app \(app.bundleID)", .object(detail), from: address, now: now)
  }
}
