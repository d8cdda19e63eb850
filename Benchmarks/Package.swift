// swift-tools-version: 6.3

import Foundation
import PackageDescription

/// The rooms declare what other rooms use as `package`. SwiftPM names a package to the compiler by its folder.
let rooms = URL(fileURLWithPath: Context.packageDirectory).deletingLastPathComponent().lastPathComponent.lowercased()
  .map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()

let package = Package(
  name: "benchmarks",
  dependencies: [.package(name: "signalbox", path: "..")],
  targets: [
    .executableTarget(
      name: "signalbox-bench",
      dependencies: [.product(name: "Rooms", package: "signalbox")],
      packageAccess: false,
      swiftSettings: [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .treatAllWarnings(as: .error),
        // Compiled as if it stood in the package of the rooms: it measures queries that no other package needs to see.
        .unsafeFlags(["-package-name", rooms]),
      ])
  ]
)
