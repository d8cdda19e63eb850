import Calendar
internal import Foundation
package import JSON
import Model
import Text

/// Devices in files and the API; ``DeviceLineParser`` reads them.
package enum DeviceExport {
  /// The first line with its line end; nil if the format has none.
  package static func header(_ format: DeviceImport.Format) -> String? {
    format == .csv ? columns.joined(separator: ",") + "\r\n" : nil
  }

  /// A device's line with its line end.
  ///
  /// In CSV, formulas are escaped; reading reverts that.
  ///
  /// - Parameter app: the app's bundle ID.
  package static func line(_ device: Device, app: String, _ format: DeviceImport.Format) -> String {
    guard format == .csv else { return JSONWriter.text(of: DeviceAnswer(device, app: app)) + "\n" }
    let cells = columns.map { name -> String in
      switch name {
      case "app": app
      case "environment": device.environment.rawValue
      case "platform": device.platform.rawValue
      case "token": device.tokenText
      case "alias": device.alias ?? ""
      case "tags": DeviceCSV.cell(tags: device.tags)
      case "registration_id": device.registrationID ?? ""
      case "name": device.name ?? ""
      case "provider": device.provider.rawValue
      case "app_version": device.details.appVersion ?? ""
      case "time_zone": device.details.timeZone ?? ""
      case "language": device.details.language ?? ""
      case "id": String(device.id)
      case "state": device.state.name
      case "state_reason": device.stateReason ?? ""
      case "registered_at": Timestamp.text(device.registeredAt)
      case "seen_at": Timestamp.text(device.seenAt)
      default: ""
      }
    }
    return cells.map { DeviceCSV.quoted(SpreadsheetText.guarded($0)) }.joined(separator: ",") + "\r\n"
  }

  private static let columns = DeviceImport.columns + DeviceImport.readOnlyColumns
}

/// The schema `Device`, also for lines of an export.
package struct DeviceAnswer: JSONObject, Sendable {
  private let device: Device
  private let app: String

  /// - Parameter app: the app's bundle ID.
  package init(_ device: Device, app: String) { (self.device, self.app) = (device, app) }

  package func writeMembers(to json: inout JSONWriter) {
    json.member("id", device.id)
    json.member("app", app)
    json.member("environment", device.environment.rawValue)
    json.member("platform", device.platform.rawValue)
    json.member("provider", device.provider.rawValue)
    json.member("state", device.state.name)
    json.member("state_reason", device.stateReason)
    json.member("token", device.tokenText)
    json.member("alias", device.alias)
    json.member("tags", device.tags)
    json.member("registration_id", device.registrationID)
    json.member("name", device.name)
    json.member("app_version", device.details.appVersion)
    json.member("time_zone", device.details.timeZone)
    json.member("language", device.details.language)
    json.member("registered_at", device.registeredAt)
    json.member("seen_at", device.seenAt)
  }
}

extension Device {
  /// The token as its service writes it: hexadecimal digits for APNs, otherwise text.
  package var tokenText: String { token.text }
}
