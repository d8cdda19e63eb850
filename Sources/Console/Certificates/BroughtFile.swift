import Certificates
import Foundation
import HTTPServer
import Model
import Reactor
import SQLite
import Store
import Text

/// The file of a form: chosen now, or uploaded before and held until the other fields are corrected.
struct BroughtFile: Sendable {
  let name: String
  let content: Data
  /// The ID of the held upload; nil if the file was chosen now.
  let uid: String?

  private static let nameLimit = 255

  /// - Parameter field: the form's field for a chosen file.
  /// - Returns: nil if no file was chosen and no upload is held any more.
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

  /// Inspects the file with the typed password.
  ///
  /// - Throws: `FileProblem`.
  func inspect(_ page: PageContext, take: String? = nil) async throws -> CertificateFile {
    let (name, content, password) = (name, content, page.form.raw("password"))
    // Opening a .p12 derives keys: run it on the pool, not on the event loop.
    return try await page.console.pools.certificates.run {
      try CertificateFile.inspect(
        data: content, fileName: name, password: password.isEmpty ? nil : password, take: take)
    }
  }

  /// Holds the file so that it need not be chosen again.
  ///
  /// - Parameter file: what it holds; then its password need not be typed again either. Nil: it could not be opened.
  /// - Returns: the ID of the held upload; nil if the file is too large or nothing can be sealed now.
  func wait(_ page: PageContext, opened file: CertificateFile? = nil) async throws -> String? {
    // With several certificates, another one may still be chosen, and its key is only in the original.
    let isOpened = page.form.filled("password") != nil && file?.choice == nil
    let kept = isOpened ? file?.opened(original: content) : nil
    if kept == nil, let uid { return uid }
    // A larger file is not a certificate file, whatever the other fields say.
    guard content.count <= CertificateFile.maximumBytes else { return nil }
    let (name, content, sealer, actor, now) = (name, kept ?? content, page.store.sealer, page.actor, page.now)
    do {
      return try await page.store.write {
        try LockedFile.add($0, name: name, content: content, sealer: sealer, by: actor, now: now).uid
      }
    } catch is SealingMismatch { return nil }
  }
}
