import Store

extension TrackedCertificate {
  /// What tells it from others with the same name, as “serial …4F2A01”; nil if its name does, or it has no serial number.
  func mark(among others: some Sequence<TrackedCertificate>, _ texts: Texts) -> String? {
    guard others.contains(where: { $0.id != id && $0.details.name == details.name }) else { return nil }
    return details.serial.map { texts("certificates.serial_end", ["end": String($0.suffix(6))]) }
  }
}
