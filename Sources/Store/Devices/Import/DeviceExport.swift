internal import Foundation
public import Push

/// Devices as files and the API show them; what ``DeviceLineParser`` reads again.
public enum DeviceExport {
  /// The first line, with its line end; nil if the form has none.
  public static func header(_ format: DeviceImport.Format) -> String? {
    format == .csv ? columns.joined(separator: ",") + "\r\n" : nil
  }

  /// A device's line, with its line end.
  ///
  /// In CSV, what a spreadsheet would take for a formula is made text; reading it again undoes that.
  ///
  /// - Parameter app: the app's bundle id.
  public static func line(_ device: Device, app: String, _ format: DeviceImport.Format) -> String {
    let json = json(device, app: app)
    guard format == .csv else { return json.text() + "\n" }
    let cells = columns.map { name -> String in
      switch json[name] {
      case .array?: DeviceCSV.cell(tags: device.tags)
      case .integer(let number)?: String(number)
      case .string(let text)?: text
      default: ""
      }
    }
    return cells.map { DeviceCSV.quoted(SpreadsheetText.guarded($0)) }.joined(separator: ",") + "\r\n"
  }

  /// As the API has it: the schema `Device`.
  public static func json(_ device: Device, app: String) -> JSONValue {
    func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
    return [
      "id": .integer(device.id), "app": .string(app), "environment": .string(device.environment.rawValue),
      "platform": .string(device.platform.rawValue), "state": .string(device.state.name),
      "state_reason": optional(device.stateReason), "token": .string(token(device)), "alias": optional(device.alias),
      "tags": .array(device.tags.map { .string($0) }), "registration_id": optional(device.registrationID),
      "name": optional(device.name), "registered_at": .string(Timestamp.text(device.registeredAt)),
      "seen_at": .string(Timestamp.text(device.seenAt)),
    ]
  }

  private static let columns = DeviceImport.columns + DeviceImport.readOnlyColumns

  private static func token(_ device: Device) -> String {
    switch device.platform {
    case .ios: device.token.hexadecimal
    case .android: String(decoding: device.token.bytes, as: UTF8.self)
    }
  }
}
