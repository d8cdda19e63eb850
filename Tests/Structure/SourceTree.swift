import Foundation

/// The repository's files, as paths from its root.
struct SourceTree {
  /// One file: its path from the root, and its text.
  struct File {
    let path: String
    let text: String

    /// `PhoneBook+JSON.swift` of `Sources/Simulator/Phones/PhoneBook+JSON.swift`.
    var name: String { String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]) }
    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
  }

  private let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: root.appendingPathComponent(path).path)
  }

  /// The folders directly in a folder; none if it does not exist.
  func folders(in path: String) throws -> [String] {
    try children(of: path).filter(\.isFolder).map(\.name)
  }

  /// Every file below a folder that has one of these endings.
  func files(in path: String, endings: [String] = ["swift"]) throws -> [File] {
    try children(of: path).flatMap { child -> [File] in
      let childPath = path + "/" + child.name
      if child.isFolder { return try files(in: childPath, endings: endings) }
      guard endings.contains((child.name as NSString).pathExtension) else { return [] }
      return [File(path: childPath, text: try text(childPath))]
    }
  }

  /// Every folder and file below a folder, by path.
  func paths(in path: String) throws -> [String] {
    try children(of: path).flatMap { child in
      let childPath = path + "/" + child.name
      return child.isFolder ? [childPath] + (try paths(in: childPath)) : [childPath]
    }
  }

  private func children(of path: String) throws -> [(name: String, isFolder: Bool)] {
    guard exists(path) else { return [] }
    return try FileManager.default.contentsOfDirectory(
      at: root.appendingPathComponent(path), includingPropertiesForKeys: [.isDirectoryKey]
    ).map { ($0.lastPathComponent, try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true) }
      .filter { !$0.0.hasPrefix(".") && !$0.0.hasPrefix("__") }
      .sorted { $0.0 < $1.0 }
  }
}
