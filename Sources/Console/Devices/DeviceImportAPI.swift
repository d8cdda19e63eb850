import Foundation
import HTTPServer
import JSON
import Model
import Store

/// `POST /api/v1/devices/import`: streams the body, so memory use does not depend on its size.
enum DeviceImportAPI {
  /// 4 GiB, about ten million devices.
  static let bodyLimit = 4 << 30

  static func add(to routes: inout ConsoleRouter) {
    let options = Route.Options(bodyLimit: bodyLimit, bodyTimeLimit: .seconds(6 * 3600))
    routes.call(.post, "/devices/import", role: .operator, options: options) { call in try await read(call) }
  }

  private static func format(_ request: Request) throws -> DeviceImport.Format {
    switch request.mediaType {
    case "application/x-ndjson": return .ndjson
    case "text/csv": return .csv
    default: throw HTTPError(.unsupportedMediaType, "The body must be application/x-ndjson or text/csv.")
    }
  }

  private static func read(_ call: APIContext) async throws -> Response {
    var intake = DeviceIntake(DeviceLineParser(format: try format(call.request)), for: call)
    for try await piece in call.request.body { try await intake.take(piece) }
    try await intake.finish()
    return APIContext.answer(intake.report)
  }
}
