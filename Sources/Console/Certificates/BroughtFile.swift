import Certificates
import Foundation
import HTTPServer
import Model
import Reactor
import SQLite
import Store
import Text

/// The file of a form: chosen now, or brought before and still waiting for what was wrong beside it.
struct BroughtFile: Sendable {
  let name: String
  let content: Data
  /// Under which it waits; nil: it was chosen now.
  let uid: String?

  private static let nameLimit = 255

  /// - Parameter field: the form's field for a chosen file.
  /// - Returns: nil if none was chosen, and none waits any more.
  init?(_ page: PageContext, field: String) async throws {
    if let item = page.form.file(field) {
      (name, content) = (String((item.part.fileName ?? "").singleLine.prefix(Self.nameLimit)), Data(item.bytes))
      uid = nil
      return
    }
    guard let uid = page.form.filled("locked") else { return nil }
    let (sealer, actor, now) = (page.store.sealer, page.actor, page.now)
    let locked = try await page.store.read {
      try LockedFile.find($0, uid: uid, by: actor, sealer: sealer, now: now)
    }
    guard let locked else { return nil }
    (name, content, self.uid) = (locked.name, locked.content, uid)
  }

  /// Looks into it, with the password that was typed.
  ///
  /// - Throws: `FileProblem`.
  func inspect(_ page: PageContext, take: String? = nil) async throws -> InspectedFile {
    let (name, content, password) = (name, content, page.form.raw("password"))
    // Opening a .p12 derives keys: work for the pool, not for the loop.
    return try await page.console.pools.certificates.run {
      try CertificateFile.inspect(
        data: content, fileName: name, password: password.isEmpty ? nil : password, take: take)
    }
  }

  /// Lets it wait, so that it need not be chosen again.
  ///
  /// - Returns: under which; nil if nothing can be sealed at present.
  func wait(_ page: PageContext) async throws -> String? {
    if let uid { return uid }
    // A larger one is no certificate file, whatever is typed beside it.
    guard content.count <= CertificateFile.maximumBytes else { return nil }
    let (name, content, sealer, actor, now) = (name, content, page.store.sealer, page.actor, page.now)
    do {
      return try await page.store.write {
        try LockedFile.add($0, name: name, content: content, sealer: sealer, by: actor, now: now).uid
      }
    } catch is SealingMismatch { return nil }
  }
}
