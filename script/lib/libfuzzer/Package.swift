// swift-tools-version: 6.3

import Foundation
import PackageDescription

/// The rooms declare what other rooms use as `package`. SwiftPM names a package to the compiler by its folder.
let rooms = URL(fileURLWithPath: Context.packageDirectory).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent().lastPathComponent.lowercased().map { $0.isLetter || $0.isNumber ? String($0) : "_" }
  .joined()

let package = Package(
  name: "fuzz",
  dependencies: [.package(name: "signalbox", path: "../../..")],
  targets: [
    .target(name: "CFuzzer"),
    .executableTarget(
      name: "fuzz",
      dependencies: ["CFuzzer", .product(name: "Rooms", package: "signalbox")],
      packageAccess: false,
      swiftSettings: [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("MemberImportVisibility"),
        // Compiled as if it stood in the package of the rooms, whose internals it calls.
        .unsafeFlags(["-package-name", rooms]),
      ],
      linkerSettings: [
        // See CFuzzer.c.
        .unsafeFlags(
          ["8bit_counters_init", "pcs_init", "trace_cmp1", "trace_cmp2", "trace_const_cmp1", "trace_const_cmp2"]
            .flatMap { ["-Xlinker", "--wrap=__sanitizer_cov_\($0)"] })
      ]),
  ]
)
