import HTTPServer

enum Cookies {
  static let session = "signalbox_session"
  static let device = "signalbox_device"
  static let form = "signalbox_form"
  static let flash = "signalbox_flash"
  static let language = "signalbox_language"

  /// Over https, the `__Host-` prefix limits the cookie to this exact host (RFC 6265bis).
  static func sessionName(isSecure: Bool) -> String { isSecure ? "__Host-" + session : session }

  /// The name of the cookie that recognizes a browser.
  static func deviceName(isSecure: Bool) -> String { isSecure ? "__Host-" + device : device }

  static func set(_ name: String, _ value: String, age: Int?, on response: inout Response, _ request: Request) {
    let cookie = Cookie(name: name, value: value, maximumAge: age, isSecure: request.isSecure)
    if let cookie { response.setCookie(cookie) }
  }
}
