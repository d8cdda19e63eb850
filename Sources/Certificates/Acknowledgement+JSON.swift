public import Push
public import Store

extension Acknowledgement {
  /// The schema `Acknowledgement`.
  public var json: JSONValue { ["by": .string(by), "until": .time(until)] }
}
