import Foundation
import Glibc
import Reactor
import Text

/// Files that are named on the command line.
enum NamedFile {
  /// Opens a file for reading.
  ///
  /// - Throws: ``CommandFailure`` with path and cause.
  static func open(_ path: String) throws -> FileHandle {
    let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    let number = errno
    guard file >= 0 else { throw failure(path, words(number)) }
    let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
    var facts = stat()
    if fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR {
      throw failure(path, EnglishSentence("Is a directory"))
    }
    return handle
  }

  /// - Throws: ``CommandFailure`` if there is a file that would be overwritten.
  static func mustBeNew(_ path: String) throws {
    guard access(path, F_OK) != 0 else {
      throw CommandFailure("\(singleLine(path)) already exists and is not overwritten. Choose another file name.")
    }
  }

  /// Creates a file, readable by its owner only, and waits until it is on the disk. After an error nothing is left of it.
  static func write(_ bytes: [UInt8], toNew path: String) throws(SystemError) {
    let file = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw SystemError("open \(path)") }
    do throws(SystemError) {
      defer { close(file) }
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw SystemError("write \(path)") }
        rest = rest.dropFirst(count)
      }
      guard fsync(file) == 0 else { throw SystemError("fsync \(path)") }
      try syncFolder(of: path)
    } catch {
      unlink(path)
      throw error
    }
  }

  /// Without it, a power cut may take the name of a new file away.
  private static func syncFolder(of path: String) throws(SystemError) {
    let folder = (path as NSString).deletingLastPathComponent
    do throws(SystemError) {
      try Replacement.sync(folder.isEmpty ? "." : folder)
    } catch let error where error.number == EINVAL {
      // The file system has nothing to sync for folders (fsync(2)).
    }
  }

  /// What a number of the system's errors means.
  static func words(_ number: Int32) -> EnglishSentence { EnglishSentence(String(cString: strerror(number))) }

  /// The same of an error of Foundation, whose own sentences are English and often say a number alone.
  static func words(_ error: any Error) -> EnglishSentence {
    let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? POSIXError
    return cause.map { words($0.code.rawValue) } ?? EnglishSentence(error.localizedDescription.withoutFullStop)
  }

  /// Creates a folder, readable by its owner only, with the folders above it, unless it is there.
  ///
  /// - Parameter option: names another folder.
  /// - Throws: ``CommandFailure`` with path and cause.
  static func makeFolder(_ path: String, option: String) throws {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CommandFailure(
        "\(singleLine(path)) cannot be created: \(words(error)). Choose another folder with \(option).")
    }
  }

  private static func failure(_ path: String, _ words: EnglishSentence) -> CommandFailure {
    CommandFailure("\(singleLine(path)): \(words)")
  }
}
