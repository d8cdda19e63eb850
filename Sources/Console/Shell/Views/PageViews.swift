import Foundation
import HTTPServer
import Mustache
import Store

/// The pages of the console, bound to their templates in every language at startup.
struct PageViews: Sendable {
  private let library: ViewLibrary<PageFrame>
  private let version: String
  private let assets: String
  /// The other languages of each language.
  private let others: [String: [FrameLanguage]]
  private static let pages: [any TemplateView.Type] = [
    OverviewPage.views, IncidentPages.views, PushPages.views, SendPages.views, SchedulePages.views, DevicePages.views,
    AudiencePages.views,
    AppPages.views, EnrollmentPages.views, ChannelPages.views, TopicPages.views, TopicChangePages.views,
    JPushRemotePages.views, CertificatePages.views, HostPages.views, PhonePages.views,
    AccountPages.views, SmokeTestPages.views, TemplatePages.views,
    ActivityPages.views, DocsPage.views, StyleguidePage.views, SearchPage.views, SessionPages.views,
    SettingsPages.views, [ErrorView.self],
  ].flatMap { (views: [any PageView.Type]) in views.map { $0 } }
  /// Parts of pages that are updated in place.
  private static let parts: [any TemplateView.Type] = SendPages.parts

  /// - Throws: `TemplateError` with file, line and column if a template uses a name that its view does not have, or a
  ///   text that a language does not have.
  init(templates: TemplateLibrary, locales: Locales, version: String, assets: String) throws {
    // English first: it replaces missing languages.
    let rest = locales.texts.values.filter { $0.code != Locales.fallback }.sorted { $0.code < $1.code }
    let all = [locales[Locales.fallback]] + rest
    library = try ViewLibrary(
      templates, all.map(\.language), frame: PageFrame.self, pages: Self.pages, parts: Self.parts)
    self.version = version
    self.assets = assets
    others = Dictionary(
      uniqueKeysWithValues: all.map { one in
        (one.code, all.filter { $0.code != one.code }.map { FrameLanguage(code: $0.code, name: $0("layout.own_name")) })
      })
  }

  /// A page frame without a signed-in person.
  func frame(_ texts: Texts) -> PageFrame {
    PageFrame(language: texts.code, version: version, assets: assets, languages: others[texts.code] ?? [])
  }

  func page(_ view: some PageView, _ frame: PageFrame, status: Status = .ok) -> Response {
    var output = Output(capacity: 65_536)
    library.page(view, frame, language: frame.language, into: &output)
    return Response(
      status,
      headers: [
        "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store",
        "Content-Language": frame.language, "Vary": "Accept-Language, Cookie",
      ],
      body: .bytes(output.array))
  }

  func part(_ view: some TemplateView, _ texts: Texts) -> String {
    var output = Output()
    library.part(view, language: texts.code, into: &output)
    return String(decoding: output.array, as: UTF8.self)
  }
}

/// How a page is shown in another language.
enum LanguageSwitch {
  /// At its own address. The address of an answer to a form takes only POST: there it leads to the form's page, with what
  /// was typed.
  case reloading
  /// At an address that shows the same, where little is typed.
  case at(String)
  /// By posting a form of the page, named by its ID, to an address that shows it in the language (``LanguagePages``) and
  /// changes nothing else, so that nothing typed is lost.
  case posting(form: String, to: String = LanguagePages.preview)
}

extension PageContext {
  /// Answers with a page, including the flash message of the previous page.
  func answer<V: PageView>(
    _ view: V, status: Status = .ok, retryAfter: Int? = nil, language: LanguageSwitch = .reloading
  ) -> Response {
    var frame = console.views.frame(texts)
    frame.csrf = CSRFToken.masked(csrf)
    switch language {
    case .reloading:
      frame.path = request.method.isSafe ? request.target : keptAddress()
    case .at(let path): frame.path = path
    case .posting(let form, let path):
      frame.languageForm = form
      frame.languageAction = path
    }
    frame.section = V.section
    if V.section == .settings { frame.settings = SettingsPages.listed(at: request.path, texts) }
    frame.isProven = session.map { ProofGate.isFresh($0, now: now) } ?? false
    frame.openIncidents = shell.openIncidents
    frame.lastCheck = shell.lastCheck.map { MomentView(date: $0, now: now) }
    frame.isCheckLate = shell.isCheckLate
    frame.hasSimulator = console.simulator != nil
    frame.isGated = isGated
    // Used right now, by this request.
    frame.sessionSeconds = session.map { session in
      Int(min(console.authentication.idle, session.expiresAt.timeIntervalSince(now)).rounded(.up))
    }
    frame.person = (isGated ? nil : user).map {
      FramePerson(name: $0.name, role: $0.role, roleText: texts("roles.\($0.role.rawValue)"))
    }
    let flash = Cookies.value(Cookies.flash, of: request).flatMap { FrameFlash(cookie: $0, texts) }
    let kept = keptForm()
    let isLost = kept == nil && user != nil && request.method.isSafe && filled(KeptForm.item) != nil
    frame.flash = isLost || kept != nil ? FrameFlash(flash: isLost ? "form_lost" : "form_kept", texts) : flash
    var response = console.views.page(view, frame, status: status)
    if let kept, let html = response.body.bytes { response.body = .bytes(FormFiller.fill(html, kept)) }
    if flash != nil { Cookies.set(Cookies.flash, "", age: 0, on: &response, request) }
    if let retryAfter { response.headers.append("Retry-After", String(retryAfter)) }
    return response
  }
}
