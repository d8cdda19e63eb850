import Foundation
import HTTPServer
import Reactor

/// The link to the page on which the token of a one-time link sets a password.
package enum SetupLink {
  static let page = "/session/setup"

  /// For whoever sits at this machine, where no proxy is between. Programs such as curl can open it.
  package static func path(_ token: String) -> String { "\(page)?token=\(token)" }

  /// For an address that is not known, or is open to others. Proxies log the query of an address, but never see its
  /// fragment, because browsers keep it to themselves; `Public/js/link.js` reads it, and the page asks for it without
  /// scripts.
  package static func hidingPath(_ token: String) -> String { "\(page)#token=\(token)" }

  /// - Parameter address: of the console, such as `https://push.example.com`.
  package static func url(_ token: String, at address: String) -> String {
    let host = URLComponents(string: address)?.host ?? ""
    return address + (Loopback.isLoopback(host) ? path(token) : hidingPath(token))
  }

  /// How the page changes its language. The answer to its form has the token in the fragment again, so that it gets into
  /// no address.
  static func language(_ page: PageContext, _ token: String) -> LanguageSwitch {
    page.request.method == .get ? .reloading : .at(hidingPath(ConsoleRouter.escaped(token)))
  }
}
