import Foundation
import HTTPServer
import JSON
import Mustache
import Store

/// Makes whole pages out of templates.
struct PageRenderer: Sendable {
  let templates: TemplateLibrary
  let locales: Locales
  let version: String
  /// Where scripts, styles and pictures are.
  let assets: String

  /// What the frame around every page shows.
  struct Frame: Sendable {
    var texts: Texts
    var csrf = ""
    var path = "/"
    var section: Section?
    var user: (name: String, role: String)?
    var flash: (text: String, isFailure: Bool)?
  }

  /// Renders a page.
  ///
  /// - Throws: `TemplateError`.
  func page(
    _ name: String, _ members: [String: Value], _ frame: Frame, status: Status = .ok
  ) throws -> Response {
    let body = try templates.renderBytes(name, .object(values(frame).merging(members) { $1 }))
    return Response(
      status, headers: ["Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store"], body: .bytes(body))
  }

  private func values(_ frame: Frame) -> [String: Value] {
    let texts = frame.texts
    var nav: [String: Value] = [:]
    for section in Section.allCases { nav[section.rawValue] = .bool(section == frame.section) }
    return [
      "t": texts.value, "lang": .string(texts.code), "csrf": .string(frame.csrf), "path": .string(frame.path),
      "assets": .string(assets),
      "nav": .object(nav), "in_settings": .bool(frame.section == .settings), "version": .string(version),
      "user": frame.user.map { user in
        [
          "name": .string(user.name), "role": .string(texts("roles." + user.role)),
          "sets_up": .bool(user.role == User.Role.admin.rawValue),
        ]
      } ?? .null,
      "languages": .list(
        locales.texts.values.sorted { $0.code < $1.code }.map { other in
          [
            "code": .string(other.code), "name": .string(other("layout.own_name")),
            "current": .bool(other.code == texts.code),
          ]
        }),
      "flash": frame.flash.map { [["text": .string($0.text), "failed": .bool($0.isFailure)]] } ?? [],
    ]
  }
}
