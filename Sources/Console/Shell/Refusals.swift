import Foundation
import HTTPServer
import JSON
import Model
import Reactor
import Store
import Synchronization

/// Requests that were refused to people, tokens and strangers, for the activity log.
///
/// Repetitions within an hour are counted, and written as one entry afterwards, so that a flood cannot fill the disk.
final class Refusals: Sendable {
  private struct Key: Hashable {
    let actor: String
    /// Such as `DELETE /api/v1/apps/:app`; `…` for those beyond ``Refusals/mostOfOne``.
    let request: String
    let status: Int
    let subject: String
    let address: String?
  }

  private struct Window {
    let start: Date
    let entry: NewAuditEntry
    var repeated = 0
  }

  private static let length: TimeInterval = 3600
  /// Kinds of refusals of one principal in an hour.
  private static let mostOfOne = 20
  /// Kinds of refusals of all strangers together in an hour.
  private static let mostOfStrangers = 500

  private let windows = Mutex<[Key: Window]>([:])

  /// Counts a refusal.
  ///
  /// - Returns: the entries to write now.
  func note(_ principal: Principal, _ request: Request, _ status: Status, _ reason: String?, now: Date)
    -> [NewAuditEntry]
  {
    let isToken = if case .token = principal { true } else { false }
    let entry = NewAuditEntry(
      actor: principal.name, action: isToken ? "token.refused" : "user.refused",
      subject: isToken ? principal.name : "user \(principal.name)", address: request.remoteAddress?.host)
    return note(entry, of: principal.name, Self.mostOfOne, request, status, reason, now: now)
  }

  /// Counts a refusal of somebody whose name or key was not checked, or was wrong.
  ///
  /// - Parameter entry: without its detail.
  /// - Returns: the entries to write now.
  func note(stranger entry: NewAuditEntry, _ request: Request, _ status: Status, _ reason: String?, now: Date)
    -> [NewAuditEntry]
  {
    // Names of persons and of tokens are not empty.
    note(entry, of: "", Self.mostOfStrangers, request, status, reason, now: now)
  }

  private func note(
    _ base: NewAuditEntry, of group: String, _ most: Int, _ request: Request, _ status: Status, _ reason: String?,
    now: Date
  ) -> [NewAuditEntry] {
    windows.withLock { windows in
      var entries = Self.takeOver(&windows, now)
      let name = "\(request.method) \(request.route ?? "")"
      var key = Key(actor: group, request: name, status: status.code, subject: base.subject, address: base.address)
      if windows[key] == nil, windows.keys.count(where: { $0.actor == group }) >= most {
        key = Key(actor: group, request: "…", status: 0, subject: "", address: nil)
      }
      guard windows[key] == nil else {
        windows[key]?.repeated += 1
        return entries
      }
      var entry = base
      entry.detail = [
        "request": .string(key.request), "status": .integer(Int64(status.code)), "reason": .optional(reason),
      ]
      windows[key] = Window(start: now, entry: entry)
      entries.append(entry)
      return entries
    }
  }

  /// The repetitions of hours that are over.
  func due(now: Date) -> [NewAuditEntry] { windows.withLock { Self.takeOver(&$0, now) } }

  private static func takeOver(_ windows: inout [Key: Window], _ now: Date) -> [NewAuditEntry] {
    let over = windows.filter { !(0..<length).contains(now.timeIntervalSince($0.value.start)) }
    for key in over.keys { windows[key] = nil }
    return over.values.filter { $0.repeated > 0 }.map { window in
      var entry = window.entry
      var detail = entry.detail?.object ?? [:]
      detail["repeated"] = .integer(Int64(window.repeated))
      entry.detail = .object(detail)
      return entry
    }
  }
}

extension Console {
  /// Records that a known principal was refused. A log that cannot be written refuses nothing more.
  func noteRefusal(
    of principal: Principal, _ request: Request, _ status: Status, _ reason: String? = nil, now: Date
  ) async {
    await write(refusals.note(principal, request, status, reason, now: now), now: now)
  }

  /// Records that a stranger was refused.
  func noteRefusal(
    ofStranger entry: NewAuditEntry, _ request: Request, _ status: Status, _ reason: String? = nil, now: Date
  ) async {
    await write(refusals.note(stranger: entry, request, status, reason, now: now), now: now)
  }

  /// The bearer token of a request. A refused one is recorded, under its name if it was valid once; a request without
  /// any is not, because everybody who opens the address would be in the log.
  ///
  /// - Throws: 401.
  func token(of request: Request, now: Date) async throws -> APIToken {
    do {
      return try await authentication.token(request, now: now)
    } catch let error as HTTPError where request.credentials("Bearer") != nil {
      if let former = try await authentication.formerToken(request) {
        await noteRefusal(of: .token(former), request, error.status, error.message, now: now)
      } else {
        let unknown = NewAuditEntry(
          actor: ActivityActor.unknownToken, action: "token.refused", subject: ActivityActor.unknownToken,
          address: request.remoteAddress?.host)
        await noteRefusal(ofStranger: unknown, request, error.status, error.message, now: now)
      }
      throw error
    }
  }

  /// Records repeated refusals of hours that are over, before the log is read.
  func noteDueRefusals(now: Date) async { await write(refusals.due(now: now), now: now) }

  private func write(_ entries: [NewAuditEntry], now: Date) async {
    guard !entries.isEmpty else { return }
    await store.noteUse { database in for entry in entries { try AuditEntry.add(database, entry, now: now) } }
  }
}
