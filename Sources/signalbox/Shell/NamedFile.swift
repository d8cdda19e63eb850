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

  private static func failure(_ path: String, _ words: EnglishSentence) -> CommandFailure {
    CommandFailure("\(singleLine(path)): \(words)")
  }
}
