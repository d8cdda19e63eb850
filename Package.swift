// swift-tools-version: 6.3

import PackageDescription

/// Settings of every Swift target: complete checking, explicit imports, and no warning survives.
let house: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

/// A room of the house and the rooms below it that it may know.
func room(_ name: String, knows below: [String] = []) -> Target {
  .target(name: name, dependencies: below.map { .byName(name: $0) }, swiftSettings: house)
}

func tests(_ name: String, knows below: [String], fixtures: Bool = false) -> Target {
  .testTarget(
    name: name + "Tests",
    dependencies: below.map { .byName(name: $0) },
    path: "Tests/" + name,
    exclude: fixtures ? ["Fixtures"] : [],
    swiftSettings: house)
}

let package = Package(
  name: "signalbox",
  products: [.executable(name: "signalbox", targets: ["signalbox"])],
  targets: [
    // C
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CNGHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CEpoll"),

    // Tools: know nothing of push
    room("Reactor", knows: ["CEpoll"]),
    room("SQLite", knows: ["CSQLite"]),
    room("OpenSSL", knows: ["COpenSSL"]),
    room("Mustache"),
    room("Logging"),
    room("Arguments"),
    room("HTTPServer", knows: ["Reactor", "OpenSSL", "CEpoll", "CZlib"]),
    room("HTTP2", knows: ["Reactor", "OpenSSL", "CNGHTTP2", "CEpoll"]),
    room("Mail", knows: ["OpenSSL", "CCurl"]),

    // Knowledge
    room("Push"),
    room("Store", knows: ["SQLite", "OpenSSL", "Push"]),

    // Workers
    room("Providers", knows: ["Push", "HTTP2", "OpenSSL", "Reactor"]),
    room("Certificates", knows: ["Push", "OpenSSL", "Store", "SQLite", "Reactor"]),
    room("Delivery", knows: ["Push", "Store", "Providers", "Logging", "SQLite", "OpenSSL", "Reactor", "HTTP2"]),
    room("Retention", knows: ["Store", "SQLite", "Push", "Logging"]),

    room(
      "Reminders",
      knows: ["Push", "Store", "Certificates", "Mail", "Mustache", "OpenSSL", "SQLite", "Reactor", "Logging"]),

    // Faces
    room("Simulator", knows: ["Push", "HTTP2", "OpenSSL", "Reactor", "Logging"]),
    room(
      "Console",
      knows: [
        "HTTPServer", "Mustache", "Store", "Delivery", "Providers", "Certificates", "Simulator", "Push", "Logging",
        "OpenSSL", "Reactor", "SQLite", "Reminders", "Mail",
      ]),
    .executableTarget(
      name: "signalbox",
      dependencies: [
        "Arguments", "Console", "Simulator", "Delivery", "Providers", "Certificates", "Store", "Push", "HTTPServer",
        "HTTP2", "Mustache", "Logging", "OpenSSL", "SQLite", "Reactor",
        "Retention", "Reminders", "Mail",
      ],
      swiftSettings: house),

    // What script/bench measures with, beside the program itself
    .executableTarget(
      name: "signalbox-bench",
      dependencies: ["HTTP2", "Logging", "OpenSSL", "Providers", "Push", "Reactor", "Retention", "SQLite", "Store"],
      path: "script/signalbox-bench", swiftSettings: house),

    // What the tests of several rooms share
    .target(
      name: "TestSupport", dependencies: ["HTTPServer", "OpenSSL", "Reactor"], path: "Tests/Support",
      swiftSettings: house),
    tests("Reactor", knows: ["Reactor"]),
    tests("SQLite", knows: ["SQLite"]),
    tests("OpenSSL", knows: ["OpenSSL", "Reactor", "TestSupport"]),
    tests("Mustache", knows: ["Mustache"], fixtures: true),
    tests("Logging", knows: ["Logging"]),
    tests("Arguments", knows: ["Arguments"]),
    tests("HTTPServer", knows: ["HTTPServer", "Reactor", "OpenSSL", "TestSupport"]),
    tests("HTTP2", knows: ["HTTP2", "OpenSSL", "Reactor", "CNGHTTP2", "TestSupport"]),
    tests("Mail", knows: ["Mail", "OpenSSL", "HTTPServer", "Reactor", "TestSupport"]),
    tests("Push", knows: ["Push"], fixtures: true),
    tests("Store", knows: ["Store", "SQLite", "OpenSSL", "Push", "TestSupport"]),
    tests("Providers", knows: ["Providers", "Push", "HTTP2", "OpenSSL", "Reactor", "Simulator"]),
    tests("Certificates", knows: ["Certificates", "Store", "OpenSSL", "Push", "SQLite", "Reactor", "TestSupport"]),
    tests(
      "Reminders",
      knows: [
        "Reminders", "Certificates", "Mail", "Store", "SQLite", "OpenSSL", "Push", "Reactor", "Logging", "Mustache",
        "TestSupport",
      ]),
    tests(
      "Delivery",
      knows: ["Delivery", "Store", "Providers", "HTTP2", "Push", "SQLite", "OpenSSL", "Logging", "TestSupport"]),
    tests("Retention", knows: ["Retention", "Store", "Push", "SQLite", "OpenSSL", "Logging", "TestSupport"]),
    tests("Simulator", knows: ["Simulator", "Push", "HTTP2", "OpenSSL", "Reactor", "Logging"]),
    tests(
      "Console",
      knows: [
        "TestSupport",
        "Console", "HTTPServer", "Mustache", "Store", "Delivery", "Certificates", "Simulator", "Push", "OpenSSL",
        "Reactor", "SQLite", "Providers", "Logging", "Reminders", "Mail",
      ], fixtures: true),
    tests(
      "Integration",
      knows: [
        "TestSupport",
        "signalbox", "Arguments", "Console", "HTTPServer", "Simulator", "Delivery", "Providers", "Certificates",
        "Store", "Push", "HTTP2", "OpenSSL", "SQLite", "Reactor", "Logging", "Reminders", "Mail",
      ]),
    tests(
      "Browser",
      knows: [
        "signalbox", "Console", "HTTPServer", "Simulator", "Delivery", "Store", "Push", "OpenSSL", "Reactor", "Logging",
        "SQLite", "TestSupport", "Certificates", "Reminders", "Mail",
      ]),
  ]
)
