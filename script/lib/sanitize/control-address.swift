import Glibc

/// Reads the byte behind its memory, which the address sanitizer must report.
@inline(never) private func overrun(_ count: Int) -> UInt8 {
  let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
  bytes.initialize(repeating: 1, count: count)
  defer { bytes.deallocate() }
  return bytes[count]
}

/// Forgets memory, which the leak detection must report.
@inline(never) private func lose() {
  for size in 1000..<1010 { memset(malloc(size), 1, size) }
}

@main enum Control {
  static func main() {
    if CommandLine.arguments.last == "leak" { lose() } else { exit(Int32(overrun(10))) }
  }
}
