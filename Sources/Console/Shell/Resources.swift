internal import Foundation
internal import HTTPServer
internal import Mustache
internal import Model

extension Console {
  /// What a console reads from its folders before it can answer; nothing in it changes afterwards.
  package struct Resources: Sendable {
    let locales: Locales
    /// Which passwords are too easy to guess.
    let passwordRule: PasswordRule
    /// Page assets under URLs that browsers may cache.
    let assets: AssetFolder
    let views: PageViews
    /// The API, as its documents describe it.
    let reference: APIReference

    /// The folders of page assets among the public files.
    static let assetFolders = ["css", "js", "icons"]

    /// - Throws: `TemplateError` with file, line and column; `SystemError` for a missing folder.
    package init(_ configuration: Configuration) throws {
      let (templates, files) = (configuration.templates, configuration.publicFiles)
      locales = try Locales(folder: templates + "/locales")
      passwordRule = PasswordRule(
        try String(contentsOfFile: templates + "/session/common-passwords.txt", encoding: .utf8))
      assets = try AssetFolder(root: files, folders: Self.assetFolders, core: "js/console.js")
      views = try PageViews(
        templates: try TemplateLibrary(directory: templates), locales: locales, version: configuration.version,
        assets: assets.prefix)
      reference = try APIReference([
        ("\(files)/api/openapi.json", ""), ("\(files)/api/app.json", "App"), ("\(files)/api/jpush.json", "JPush"),
      ])
    }
  }

  var locales: Locales { resources.locales }
  var passwordRule: PasswordRule { resources.passwordRule }
  var assets: AssetFolder { resources.assets }
  var views: PageViews { resources.views }
  var reference: APIReference { resources.reference }
}
