import CFuzzer
import Foundation

// fuzz TARGET [libFuzzer's options and folders]: see script/fuzz.
guard CommandLine.arguments.count > 1, let chosen = FuzzTarget(rawValue: CommandLine.arguments[1]) else {
  for target in FuzzTarget.allCases { print(target.rawValue) }
  exit(CommandLine.arguments.count > 1 ? 64 : 0)
}
let target = chosen
// To merge, libFuzzer starts its first word again in a shell: the reader's name is a part of it.
let words = ["\(CommandLine.arguments[0]) \(target.rawValue)"] + CommandLine.arguments.dropFirst(2)
var count = Int32(words.count)
var pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = .allocate(capacity: words.count + 1)
for (index, word) in words.enumerated() { pointers?[index] = strdup(word) }
pointers?[words.count] = nil
exit(
  LLVMFuzzerRunDriver(&count, &pointers) { data, size in
    target.run(Array(UnsafeBufferPointer(start: data, count: size)))
    fuzzer_executed()
    return 0
  })
