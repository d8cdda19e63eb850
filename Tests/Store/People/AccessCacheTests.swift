import Foundation
import SQLite
import TestSupport
import Testing

@testable import Store

/// Sessions and tokens that are kept in memory let in whom a query would let in, and nobody else.
@Suite("Sessions and tokens without a query", .timeLimit(.minutes(2)))
struct AccessCacheTests {
  private static let idle: TimeInterval = 7 * 86_400
  private static let cookie: [UInt8] = [1, 2, 3]
  private static let token: [UInt8] = [4, 5, 6]

  /// A store with one reader, a person with a session, and a token of that person; each was looked up once.
  private static func with(_ body: (Store, User) async throws -> Void) async throws {
    let folder = try temporaryFolder().path
    defer { try? FileManager.default.removeItem(atPath: folder) }  // a left-over folder fails no test
    let store = try Store.openNew(path: folder + "/test.sqlite", sealer: TestSealer(), readers: 1, now: noon)
    defer { store.close() }
    let user = try await store.write { database in
      let user = try User.add(database, name: "anna@example.com", role: .admin, passwordHash: "x", now: noon)
      try Session.open(database, idHash: cookie, user: user.id, csrf: "csrf", lifetime: 30 * 86_400, now: noon)
      try APIToken.add(
        database, name: "ci", hash: token, scopes: ["admin"], user: user.id, expiresAt: noon + 3600, now: noon)
      return user
    }
    #expect(try await session(store) != nil)
    #expect(try await store.token(hash: token, now: noon) != nil)
    try await body(store, user)
  }

  private static func session(_ store: Store, now: Date = noon) async throws -> (session: Session, user: User)? {
    try await store.session(idHash: cookie, idle: idle, now: now)
  }

  /// Keeps the store's one reader busy while `body` runs.
  private static func withoutReader(_ store: Store, _ body: () async throws -> Void) async throws {
    let release = DispatchSemaphore(value: 0)
    defer { release.signal() }
    await withCheckedContinuation { busy in
      DispatchQueue.global().async {
        _ = try? store.readSync { _ in  // the body throws nothing
          busy.resume()
          release.wait()
        }
      }
    }
    try await body()
  }

  @Test("found once, they are found again while no reader is free")
  func kept() async throws {
    try await Self.with { store, user in
      try await Self.withoutReader(store) {
        let found = try await Self.session(store)
        #expect(found?.user.id == user.id && found?.session.csrf == "csrf")
        #expect(try await store.token(hash: Self.token, now: noon)?.name == "ci")
      }
    }
  }

  @Test("what takes a session away counts for the next request", arguments: 0..<6)
  func endedSession(_ way: Int) async throws {
    try await Self.with { store, user in
      try await store.write { database -> Void in
        switch way {
        case 0: try Session.end(database, idHash: Self.cookie)
        case 1: try Session.endAll(database, user: user.id)
        case 2: try User.setPassword(database, id: user.id, hash: "y")
        case 3: _ = try User.setDisabled(database, id: user.id, true, now: noon)
        case 4: _ = try User.delete(database, id: user.id)
        default: _ = try Revocations.endAccess(database, now: noon)
        }
      }
      #expect(try await Self.session(store) == nil)
    }
  }

  @Test("what takes a token away counts for the next request", arguments: 0..<3)
  func endedToken(_ way: Int) async throws {
    try await Self.with { store, user in
      let id = try #require(try await store.token(hash: Self.token, now: noon)?.id)
      try await store.write { database -> Void in
        switch way {
        case 0: _ = try APIToken.revoke(database, id: id, now: noon)
        case 1: _ = try User.setDisabled(database, id: user.id, true, now: noon)
        default: _ = try User.delete(database, id: user.id)
        }
      }
      #expect(try await store.token(hash: Self.token, now: noon) == nil)
    }
  }

  @Test("a changed role counts for the next request")
  func changedRole() async throws {
    try await Self.with { store, user in
      _ = try await store.write { try User.update($0, id: user.id, role: .viewer, language: nil) }
      #expect(try await Self.session(store)?.user.role == .viewer)
    }
  }

  @Test("what another connection commits counts for the next request")
  func otherConnection() async throws {
    try await Self.with { store, user in
      let other = try Database(path: store.pool.path)
      defer { other.close() }
      try other.run("UPDATE users SET role = 'viewer'")
      #expect(try await Self.session(store)?.user.role == .viewer)
      try other.run("UPDATE tokens SET revoked_at = 1")
      #expect(try await store.token(hash: Self.token, now: noon) == nil)
      try other.run("UPDATE users SET disabled_at = 1")
      #expect(try await Self.session(store) == nil)
      try other.run("UPDATE users SET disabled_at = NULL")
      #expect(try await Self.session(store) != nil)
    }
  }

  @Test("they end to the millisecond as a query says")
  func time() async throws {
    try await Self.with { store, _ in
      let ends = [noon + Self.idle, noon + 30 * 86_400, noon + 3600]
      for end in ends {
        for seconds in [-1, -0.0011, -0.001, -0.0004, 0, 0.0004, 0.001, 1] {
          let now = end + seconds
          let session = try await store.read {
            try Session.find($0, idHash: Self.cookie, idle: Self.idle, now: now) != nil
          }
          let keptSession = try await Self.session(store, now: now)
          #expect((keptSession != nil) == session)
          let token = try await store.read { try APIToken.find($0, hash: Self.token, now: now) != nil }
          let keptToken = try await store.token(hash: Self.token, now: now)
          #expect((keptToken != nil) == token)
        }
      }
      #expect(try await Self.session(store, now: noon + Self.idle) == nil)
      #expect(try await store.token(hash: Self.token, now: noon + 3600) == nil)
    }
  }

  @Test("an ended session is never found, also by concurrent readers")
  func race() async throws {
    try await Self.with { store, user in
      for _ in 0..<50 {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<3 {
            group.addTask { for _ in 0..<10 { _ = try await Self.session(store) } }
          }
          group.addTask {
            try await store.write { try Session.end($0, idHash: Self.cookie) }
            #expect(try await Self.session(store) == nil)
          }
          try await group.waitForAll()
        }
        #expect(try await Self.session(store) == nil)
        try await store.write {
          try Session.open($0, idHash: Self.cookie, user: user.id, csrf: "csrf", lifetime: 86_400, now: noon)
        }
        #expect(try await Self.session(store) != nil)
      }
    }
  }

  @Test("strangers' cookies are not kept: one that becomes a session is found")
  func strangers() async throws {
    try await Self.with { store, user in
      #expect(try await store.session(idHash: [9], idle: Self.idle, now: noon) == nil)
      #expect(try await store.token(hash: [9], now: noon) == nil)
      try await store.write {
        try Session.open($0, idHash: [9], user: user.id, csrf: "c", lifetime: 86_400, now: noon)
      }
      #expect(try await store.session(idHash: [9], idle: Self.idle, now: noon)?.user.id == user.id)
    }
  }
}
