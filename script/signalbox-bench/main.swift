// What script/bench measures with, beside the program itself.
import Glibc

let arguments = Array(CommandLine.arguments.dropFirst())
let numbers = arguments.dropFirst(2).compactMap { Int($0) }
switch (arguments.first, arguments.count, numbers.count) {
case ("receive", 4, 2):
  try await Receiver.run(folder: arguments[1], port: UInt16(numbers[0]), delay: numbers[1])
case ("push", 7, 5):
  try await pushes(
    folder: arguments[1], port: UInt16(numbers[0]), count: numbers[1], connections: numbers[2], streams: numbers[3],
    first: numbers[4])
case ("audience", 4, _): try audience(database: arguments[1], name: arguments[2], app: arguments[3])
default:
  print(
    """
    usage: signalbox-bench receive FOLDER PORT MILLISECONDS
           signalbox-bench push FOLDER PORT COUNT CONNECTIONS STREAMS FIRST
           signalbox-bench audience DATABASE all|tag|tag_and|tag_not|alias APP
    """)
  exit(64)
}
