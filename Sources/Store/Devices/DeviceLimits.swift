/// Limits that hold over several devices, or over what a device had before.
public struct DeviceLimits: Sendable, Hashable {
  /// How many devices of an app one alias may have; nil: any number. JPush: 10 (docs/protocols.md §4.4).
  public var devicesPerAlias: Int?
  /// How many tags one device may have. JPush: 1000.
  public var tagsPerDevice: Int

  /// Creates limits.
  public init(devicesPerAlias: Int? = nil, tagsPerDevice: Int = 1000) {
    self.devicesPerAlias = devicesPerAlias
    self.tagsPerDevice = tagsPerDevice
  }
}
