/// The JSON API of `Public/api/openapi.json`.
enum API {
  static func add(to routes: inout ConsoleRouter) {
  }
}
