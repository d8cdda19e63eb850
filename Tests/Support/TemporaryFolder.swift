package import Foundation

/// Makes a folder of its own for a test, which takes it away again.
package func temporaryFolder() throws -> URL {
  let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  return folder
}
