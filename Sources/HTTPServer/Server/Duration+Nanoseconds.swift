extension Duration {
  /// In nanoseconds; 0 if negative, at most a year.
  var nanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return UInt64(min(seconds, 31_536_000)) &* 1_000_000_000 &+ UInt64(attoseconds / 1_000_000_000)
  }
}
