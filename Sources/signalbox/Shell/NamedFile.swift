import Foundation
import Glibc
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
