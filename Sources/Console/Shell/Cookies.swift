import HTTPServer

/// The cookies of the console.
enum Cookies {
  static let session = "signalbox_session"
  static let device = "signalbox_device"
  static let form = "signalbox_form"
  static let flash = "signalbox_flash"
  static let language = "signalbox_language"

  /// Over https the browser is told to take the session from this very host only (RFC 6265bis, `__Host-`).
  static func sessionName(isSecure: Bool) -> String { isSecure ? "__Host-" + session : session }

  /// The same for the cookie by which a browser is known.
  static func deviceName(isSecure: Bool) -> String { isSecure ? "__Host-" + device : device }

  static func set(_ name: String, _ value: String, age: Int?, on response: inout Response, _ request: Request) {
    let cookie = Cookie(name: name, value: value, maximumAge: age, isSecure: request.isSecure)
    if let cookie { response.setCookie(cookie) }
  }
}
