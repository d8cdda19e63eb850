public import Push

/// What a list of devices is narrowed down to; nil: not by this.
public struct DeviceFilter: Sendable, Hashable {
  /// Devices of this app.
  public var app: Int64?
  /// Devices of this environment.
  public var environment: Environment?
  /// Devices of this platform.
  public var platform: Platform?
  /// Devices in this state.
  public var state: DeviceState?
  /// Devices with the tag of exactly this name.
  public var tag: String?
  /// Devices of exactly this user.
  public var alias: String?
  /// Devices whose token is this, or begins so.
  public var tokenPrefix: [UInt8]?
  /// The device with exactly this registration id.
  public var registrationID: String?

  /// All devices.
  public init(app: Int64? = nil) { self.app = app }
}
