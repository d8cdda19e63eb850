import Foundation
import Glibc
import SQLite
import Store
import Testing

@testable import signalbox

/// What root's commands leave in the data folder is the service's to open. Only root can try it.
@Suite("Commands of root's", .enabled(if: geteuid() == 0, "root alone can give files away"))
struct FileOwnerTests {
  /// Nobody, and a group that is not nobody's own.
  private static let (user, group): (uid_t, gid_t) = (65_534, 1234)

  private func give(_ path: String) throws {
    try #require(chown(path, Self.user, Self.group) == 0 && chmod(path, 0o700) == 0)
  }

  /// What the service's user cannot open below a folder.
  private func closed(_ folder: String) throws -> [String] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
    return ([""] + names).filter { name in
      var status = stat()
      return lstat(name.isEmpty ? folder : "\(folder)/\(name)", &status) != 0 || status.st_uid != Self.user
        || status.st_gid != Self.group
    }
  }

  private static let commands: [[String]] = [
    ["apps", "add", "com.example.two", "--name", "Two"], ["rotate-key"], ["rotate-key", "--keep-old", "DATA/old.key"],
    ["backup", "DATA/copy.sqlite"], ["backup", "--to", "DATA/backups/daily"], ["restore", "BACKUP"],
    ["check-certificates"], ["doctor"], ["users", "list"],
  ]

  @Test("no command leaves a file that the owner of the folder cannot open", arguments: commands)
  func existing(_ words: [String]) async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let backup = box.folder + "/backup.sqlite"
      await box.run("backup", backup)
      for name in try FileManager.default.contentsOfDirectory(atPath: box.data) {
        try #require(chown("\(box.data)/\(name)", Self.user, Self.group) == 0)
      }
      try give(box.data)
      let done = await box.run(
        words.map { $0.replacing("DATA", with: box.data).replacing("BACKUP", with: backup) })
      #expect(done.code == 0, "\(done.errors)")
      #expect(try closed(box.data) == [])
    }
  }

  @Test("nor does the first one, in an empty folder, below one, and a backup from elsewhere", arguments: [0, 1, 2])
  func first(_ number: Int) async throws {
    try await CommandRunner.with { box in
      let backup = box.folder + "/backup.sqlite"
      if number == 2 {
        let other = ["--data", box.folder + "/other"]
        _ = await box.run(["apps", "add", "com.example.one", "--name", "One"] + other)
        _ = await box.run(["backup", backup] + other)
      }
      try FileManager.default.createDirectory(atPath: box.data, withIntermediateDirectories: true)
      try give(box.data)
      let below = number == 1 ? box.data + "/of/signalbox" : box.data
      let words = number == 2 ? ["restore", backup] : ["apps", "add", "com.example.r", "--name", "R"]
      let done = await box.run(words + ["--data", below])
      #expect(done.code == 0, "\(done.errors)")
      #expect(try closed(box.data) == [])
    }
  }

  @Test("in a folder of root's, what is made goes to the owner of the database")
  func folderOfRoot() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let backup = box.folder + "/backup.sqlite"
      await box.run("backup", backup)
      let files = ["signalbox.sqlite", "secret.key"].map { "\(box.data)/\($0)" }
      for file in files { try #require(chown(file, Self.user, Self.group) == 0) }
      try #require(chmod(box.data, 0o770) == 0)
      for words in [["restore", backup], ["rotate-key"], ["apps", "list"]] {
        #expect(await box.run(words).code == 0)
        #expect(try closed(box.data) == [""], "\(words)")
      }
    }
  }

  @Test("what an earlier version left is repaired; a link, another name of a file, and others' folders are not touched")
  func repaired() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      try give(box.data)
      let outside = try box.file("outside", "root's")
      try FileManager.default.createSymbolicLink(
        atPath: box.data + "/signalbox.sqlite.before-restore-x", withDestinationPath: outside)
      try #require(link(outside, box.data + "/secret.key.new.x") == 0)
      #expect(await box.run("apps", "list").code == 0)
      var status = stat()
      #expect(stat(outside, &status) == 0 && status.st_uid == 0)
      #expect(try closed(box.data).sorted() == ["secret.key.new.x", "signalbox.sqlite.before-restore-x"])
      // A backup in a folder of root's stays root's: nobody else gets the data.
      let copy = box.folder + "/copy.sqlite"
      #expect(await box.run("backup", copy).code == 0)
      #expect(stat(copy, &status) == 0 && status.st_uid == 0)
    }
  }

  @Test("an upgrade's copy is the service's, too")
  func upgrade() async throws {
    try await CommandRunner.with { box in
      let directory = DataDirectory(box.data)
      try directory.create()
      let former = Migrator(applicationID: Schema.applicationID, Array(Schema.migrator.migrations.dropLast(1)))
      let database = try Database(path: directory.database)
      try former.migrate(database, at: 0)
      database.close()
      await box.run("rotate-key", "--lost")
      try give(box.data)
      try #require(chown(directory.database, Self.user, Self.group) == 0)
      let later = await box.run("apps", "list")
      #expect(later.code == 0, "\(later.errors)")
      #expect(try closed(box.data) == [])
      let names = try FileManager.default.contentsOfDirectory(atPath: box.data)
      #expect(names.contains { $0.contains(".before-upgrade-") })
    }
  }
}
