// What script/bench measures with, beside the program itself.
import Foundation
import Glibc
import Model
import SQLite

let arguments = Array(CommandLine.arguments.dropFirst())
let numbers = arguments.dropFirst(2).compactMap { Int($0) }
switch (arguments.first, arguments.count, numbers.count) {
case ("receive", 5, 3):
  try await Receiver.run(
    folder: arguments[1], port: UInt16(numbers[0]), refused: numbers[1], delay: numbers[2])
case ("push", 8, 5):
  guard let kind = ProviderKind(rawValue: arguments[7]) else {
    print("signalbox-bench: \(arguments[7]) is no provider")
    exit(64)
  }
  try await pushes(
    kind, folder: arguments[1], port: UInt16(numbers[0]), count: numbers[1], connections: numbers[2],
    streams: numbers[3], first: numbers[4])
case ("audience", 4, _): try audience(database: arguments[1], name: arguments[2], app: arguments[3])
case ("rows", 5, 3): try rows(database: arguments[1], rows: numbers[0], devices: numbers[1], pushes: numbers[2])
case ("devices", 3, 1):
  try RowsBuilder(path: arguments[1], rows: 0, devices: numbers[0], pushes: 0).build()
case ("trim", 3, 1): try await trim(database: arguments[1], seconds: numbers[0])
default:
  print(
    """
    usage: signalbox-bench receive FOLDER PORT REFUSED MILLISECONDS
           signalbox-bench push FOLDER PORT COUNT CONNECTIONS STREAMS FIRST apns|fcm|jpush
           signalbox-bench audience DATABASE all|tag|tag_and|tag_not|alias APP
           signalbox-bench rows DATABASE ROWS DEVICES PUSHES
           signalbox-bench devices DATABASE DEVICES
           signalbox-bench trim DATABASE SECONDS
    """)
  exit(64)
}

/// Builds a database, unless it is there, and measures it.
func rows(database path: String, rows: Int, devices: Int, pushes: Int) throws {
  let builder: RowsBuilder
  if FileManager.default.fileExists(atPath: path) {
    builder = try RowsBuilder(path: path, rows: rows, devices: devices, pushes: pushes)
    builder.database.close()
  } else {
    builder = try RowsBuilder(path: path, rows: rows, devices: devices, pushes: pushes)
    try builder.build()
  }
  let slow = try RowsMeasure(path: path, broadcasts: builder.broadcasts, devices: devices)
    .run(rounds: 300, cold: 15, limit: 50)
  guard slow.isEmpty else {
    print("over 50 ms: \(slow.joined(separator: "; "))")
    exit(1)
  }
}
