import Foundation
import Testing

/// The floors stand in Package.swift: `// C`, `// Tools`, `// Knowledge`, `// Workers`, `// Faces`.
@Suite("Dependencies")
struct DependencyTests {
  struct Room {
    let name: String
    /// The number of its floor: 0 is C, 4 is the faces.
    let floor: Int
    let below: [String]
  }

  /// The rooms of the manifest's text, above its test targets.
  static func rooms() throws -> [Room] {
    let manifest = try SourceTree().text("Package.swift")
    let end = try #require(manifest.range(of: "\n    // What the tests"), "the tests stand below the rooms")
    let start = try #require(manifest.range(of: "  targets: [\n"))
    let text = manifest[start.upperBound..<end.lowerBound]
    let floors = ["C", "Tools", "Knowledge", "Workers", "Faces"]
    let place =
      #/^ +// (\w+)|(?:room\(|Target\(|systemLibrary\()\s*(?:name: )?"(\w+)"(?:,\s*(?:knows|dependencies): \[([^\]]*)\])?/#
      .anchorsMatchLineEndings()
    var floor: Int?
    var rooms: [Room] = []
    for match in text.matches(of: place) {
      if let heading = match.1 { floor = floors.firstIndex(of: String(heading)) ?? floor }
      guard let name = match.2 else { continue }
      let below = (match.3 ?? "").matches(of: #/"(\w+)"/#).map { String($0.1) }
      rooms.append(Room(name: String(name), floor: try #require(floor, "\(name) is on no floor"), below: below))
    }
    return rooms
  }

  @Test("no dependency points upward, and C is known to tools only")
  func floors() throws {
    let rooms = try Self.rooms()
    let floors = Dictionary(uniqueKeysWithValues: rooms.map { ($0.name, $0.floor) })
    #expect(Set(floors.values) == [0, 1, 2, 3, 4])
    for room in rooms {
      for name in room.below {
        let floor = try #require(floors[name], "\(room.name) depends on \(name), which is on no floor")
        #expect(floor <= room.floor, "\(room.name) depends on \(name), which is above it")
        #expect(floor > 0 || room.floor == 1, "\(room.name) depends on \(name): C stays inside the tools")
      }
    }
  }

  @Test("every folder of Sources is one room of the manifest")
  func complete() throws {
    let rooms = try Self.rooms()
    #expect(try rooms.map(\.name).sorted() == SourceTree().folders(in: "Sources").sorted())
    let importing = try #require(rooms.first { $0.name == "Store" })
    #expect(importing.below.contains("SQLite"), "dependencies are read")
  }

  @Test("a target declares the rooms that its files import, and no others")
  func imports() throws {
    let tree = SourceTree()
    let manifest = try tree.text("Package.swift")
    let target =
      #/\b(room|tests|executableTarget|target)\(\s*(?:name: )?"(\w+)"(?:,\s*(?:knows|dependencies): \[([^\]]*)\])?/#
    let targets = manifest.matches(of: target).map { match in
      let name = String(match.2)
      let folder =
        switch match.1 {
        case "tests": "Tests/" + name
        case "target": "Tests/Support"
        default: "Sources/" + name
        }
      let declared = Set((match.3 ?? "").matches(of: #/"(\w+)"/#).map { String($0.1) })
      return (folder: folder, isTest: match.1 == "tests", name: name, declared: declared)
    }
    #expect(targets.count > 40, "the targets are read")
    let own = Set(targets.map(\.name)).union(
      manifest.matches(of: #/systemLibrary\(name: "(\w+)"/#).map { String($0.1) })
    let importing =
      #/^(?:@\w+ +)*(?:(?:public|package|internal|private) +)?import (?:(?:struct|enum|class|func) )?(\w+)/#
      .anchorsMatchLineEndings()
    for target in targets {
      var imported: Set<String> = []
      for file in try tree.files(in: target.folder) {
        imported.formUnion(file.text.matches(of: importing).map { String($0.1) })
      }
      imported.formIntersection(own)
      if !target.isTest { imported.remove(target.name) }
      #expect(
        imported == target.declared,
        """
        \(target.folder): add \(imported.subtracting(target.declared).sorted()) to Package.swift, \
        remove \(target.declared.subtracting(imported).sorted())
        """)
    }
  }

  /// The files of commands that know the console, each with its reason. What a rule or an entry of the activity log says
  /// stands below both.
  static let knowingConsole = [
    "CommandTexts.swift": "the texts of the pages, in other languages than English",
    "DevicesBatchCommand.swift": "the API's answer",
    "DoctorCommand.swift": "the support bundle that a page offers, too",
    "ServeCommand.swift": "serves it",
    "Service+Server.swift": "serves it",
    "Service.swift": "serves it",
    "SimulateCommand.swift": "serves the simulator's control API",
    "TokensCommand.swift": "the API's answer, and what a token may be",
    "UsersCommand.swift": "the API's answer, and the link for the first password",
    "WebhooksCommand.swift": "the API's answer",
  ]

  @Test("commands know the console only where they have to")
  func console() throws {
    let files = try SourceTree().files(in: "Sources/signalbox").filter { $0.lines.contains("import Console") }
    #expect(files.map(\.name).sorted() == Self.knowingConsole.keys.sorted())
  }

  @Test("a run asks what a push service can do, not which one it is")
  func services() throws {
    let files = try SourceTree().files(in: "Sources/Delivery/Run")
    #expect(files.count > 10)
    for file in files {
      #expect(!file.text.contains(#/[=!]= \.(?:apns|fcm|jpush)\b/#), "\(file.path) compares a service")
    }
  }
}
