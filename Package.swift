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
///
/// - Parameter hot: whether it is optimized in debug builds too: the tests start the console hundreds of times, and spend
///   most of that in binding templates.
func room(_ name: String, knows below: [String] = [], hot: Bool = false) -> Target {
  .target(
    name: name, dependencies: below.map { .byName(name: $0) },
    swiftSettings: house + (hot ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : []))
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
  products: [
    .executable(name: "signalbox", targets: ["signalbox"]),
    // The rooms that Benchmarks/ measures and script/fuzz tries; nothing else uses this library.
    .library(
      name: "Rooms",
      targets: [
        "Calendar", "Certificates", "Console", "HTTP2", "HTTPServer", "JSON", "Logging", "Mail", "Model", "Mustache",
        "OpenSSL", "Providers", "Reactor", "SQLite", "Simulator", "Store", "Text",
      ]),
  ],
  targets: [
    // C
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CNGHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CQRencode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
    .systemLibrary(name: "CEpoll"),

    // Tools: know nothing of push
    // JSON and Mustache declare as public what other rooms use: the compiler inlines across rooms only what is public.
    room("Text", hot: true),
    room("Calendar", knows: ["Text"]),
    room("JSON", knows: ["Text"], hot: true),
    room("Reactor", knows: ["CEpoll"]),
    room("SQLite", knows: ["CSQLite"]),
    room("OpenSSL", knows: ["Calendar", "Text", "COpenSSL"]),
    room("QRCode", knows: ["CQRencode"]),
    room("Mustache", hot: true),
    room("Logging", knows: ["Calendar", "Reactor"]),
    room("Arguments", knows: ["Text"]),
    room("HTTPServer", knows: ["Calendar", "OpenSSL", "Reactor", "Text", "CZlib", "CEpoll"]),
    room("HTTP2", knows: ["OpenSSL", "Reactor", "CNGHTTP2"]),
    room("Mail", knows: ["Calendar", "OpenSSL", "Reactor", "CCurl"]),

    // Knowledge
    room("Model", knows: ["Calendar", "JSON", "Text"]),
    room("Store", knows: ["Calendar", "JSON", "Logging", "Model", "OpenSSL", "SQLite", "Text"]),

    // Workers
    room("Providers", knows: ["Calendar", "HTTP2", "JSON", "Model", "OpenSSL", "Reactor", "Text"]),
    room(
      "Certificates",
      knows: ["Calendar", "JSON", "Model", "OpenSSL", "Providers", "Reactor", "SQLite", "Store", "Text"]),
    room(
      "Delivery",
      knows: [
        "Calendar", "Certificates", "HTTP2", "JSON", "Logging", "Model", "OpenSSL", "Providers", "Reactor", "SQLite",
        "Store", "Text",
      ]),

    room(
      "Reminders",
      knows: ["Calendar", "Certificates", "JSON", "Logging", "Mail", "Model", "Mustache", "Reactor", "SQLite", "Store"]),
    room(
      "Webhooks",
      knows: ["JSON", "Logging", "Mail", "Model", "OpenSSL", "Reactor", "Reminders", "SQLite", "Store"]),

    // Faces
    room("Simulator", knows: ["Calendar", "Certificates", "HTTP2", "JSON", "Logging", "Model", "OpenSSL", "Reactor"]),
    room(
      "Console",
      knows: [
        "Calendar", "Certificates", "Delivery", "HTTPServer", "JSON", "Logging", "Mail", "Model", "Mustache", "OpenSSL",
        "Providers", "QRCode", "Reactor", "Reminders", "SQLite", "Simulator", "Store", "Text", "Webhooks",
      ]),
    .executableTarget(
      name: "signalbox",
      dependencies: [
        "Arguments", "Calendar", "Certificates", "Console", "Delivery", "HTTPServer", "JSON", "Logging", "Mail",
        "Model",
        "OpenSSL", "Providers", "Reactor", "Reminders", "SQLite", "Simulator", "Store", "Text", "Webhooks",
      ],
      swiftSettings: house),

    // What the tests of several rooms share
    .target(
      name: "TestSupport",
      dependencies: [
        "COpenSSL", "Certificates", "HTTP2", "HTTPServer", "Logging", "Model", "OpenSSL", "Providers", "Reactor",
        "SQLite", "Store",
      ],
      path: "Tests/Support",
      swiftSettings: house),
    tests("Structure", knows: []),
    tests("Reactor", knows: ["Reactor"]),
    tests("SQLite", knows: ["Reactor", "SQLite"]),
    tests("OpenSSL", knows: ["OpenSSL", "Reactor", "TestSupport"]),
    tests("QRCode", knows: ["QRCode"]),
    tests("Mustache", knows: ["Mustache"], fixtures: true),
    tests("Logging", knows: ["Logging", "TestSupport"]),
    tests("Arguments", knows: ["Arguments", "Text"]),
    tests("HTTPServer", knows: ["Calendar", "HTTPServer", "OpenSSL", "Reactor", "TestSupport"]),
    tests("HTTP2", knows: ["HTTP2", "OpenSSL", "Reactor", "TestSupport", "CNGHTTP2"]),
    tests("Mail", knows: ["HTTPServer", "Mail", "OpenSSL", "Reactor", "TestSupport"]),
    tests("Text", knows: ["Text", "TestSupport"]),
    tests("Calendar", knows: ["Calendar", "JSON"], fixtures: true),
    tests("JSON", knows: ["JSON"]),
    tests("Model", knows: ["Calendar", "JSON", "Model", "TestSupport", "Text"]),
    tests(
      "Store",
      knows: ["CSQLite", "Calendar", "JSON", "Logging", "Model", "OpenSSL", "SQLite", "Store", "TestSupport"],
      fixtures: true),
    tests("Providers", knows: ["Calendar", "HTTP2", "JSON", "Model", "OpenSSL", "Providers", "Reactor"]),
    tests(
      "Certificates",
      knows: [
        "Calendar", "Certificates", "JSON", "Model", "OpenSSL", "Providers", "Reactor", "SQLite", "Store",
        "TestSupport", "Text",
      ]),
    tests(
      "Reminders",
      knows: [
        "Calendar", "Certificates", "JSON", "Logging", "Mail", "Model", "Mustache", "OpenSSL", "Reactor", "Reminders",
        "SQLite", "Store", "TestSupport",
      ]),
    tests(
      "Webhooks",
      knows: [
        "HTTPServer", "JSON", "Logging", "Model", "OpenSSL", "Reactor", "SQLite", "Store", "TestSupport", "Webhooks",
      ]),
    tests(
      "Delivery",
      knows: [
        "Calendar", "Delivery", "HTTP2", "JSON", "Logging", "Model", "OpenSSL", "Providers", "SQLite", "Store",
        "TestSupport",
      ]),
    tests(
      "Simulator",
      knows: ["Certificates", "HTTP2", "JSON", "Logging", "Model", "OpenSSL", "Reactor", "Simulator", "TestSupport"]),
    tests(
      "Console",
      knows: [
        "Calendar", "Certificates", "Console", "Delivery", "HTTPServer", "JSON", "Logging", "Mail", "Model", "Mustache",
        "OpenSSL", "Providers", "Reactor", "Reminders", "SQLite", "Simulator", "Store", "Text", "TestSupport",
      ], fixtures: true),
    tests(
      "Fuzzing",
      knows: [
        "CNGHTTP2", "Certificates", "Console", "HTTP2", "HTTPServer", "JSON", "Mail", "Model", "Mustache", "OpenSSL",
        "Providers", "Reactor", "Simulator", "Store", "TestSupport",
      ],
      fixtures: true),
    tests(
      "Integration",
      knows: [
        "Arguments", "Certificates", "Console", "Delivery", "HTTP2", "HTTPServer", "JSON", "Logging", "Mail", "Model",
        "OpenSSL", "Providers", "Reactor", "Reminders", "SQLite", "Simulator", "Store", "signalbox", "TestSupport",
        "Text",
      ], fixtures: true),
    tests(
      "Browser",
      knows: [
        "Certificates", "Console", "JSON", "Logging", "Model", "OpenSSL", "Reactor", "Reminders", "SQLite", "Simulator",
        "Store", "signalbox", "TestSupport",
      ]),
  ]
)
