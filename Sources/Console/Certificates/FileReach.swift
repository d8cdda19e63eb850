import Certificates
import Foundation
import Model
import Mustache
import SQLite
import Store

/// The apps that a file could send for, with what depends on it there; for a file that is not kept yet.
struct FileReach: Sendable {
  struct Place: Sendable {
    let overview: AppOverview
    let environment: Environment
    let provider: ProviderKind
    let planned: Forecast.Plan
  }

  let places: [Place]
  /// Of the app that the file is for; nil if it names none.
  let bundleID: String?

  /// Nil for a file that cannot send.
  init?(_ database: Database, _ file: CertificateFile, now: Date) throws {
    guard file.canSend, let provider = CredentialRule.provider(file) else { return nil }
    var details = TrackedCertificate.Details(kind: file.kind.rawValue, name: file.name, fileName: "")
    (details.environments, details.topics) = (file.environments, file.topics.map(\.name))
    details.hasPrivateKey = true
    let ownTopic = file.kind.isForAPNs ? nil : file.topics.first
    bundleID = (file.topics.first { $0.kinds.contains("app") } ?? ownTopic)?.name
    let plan = try Forecast.all(database, now: now)
    places = try AppOverview.all(database).flatMap { overview in
      Environment.allCases.filter {
        CredentialRule.problem(details, overview.app, $0, provider) == nil
      }.map { environment in
        Place(
          overview: overview, environment: environment, provider: provider,
          planned: plan.of(app: overview.id, environment, provider))
      }
    }
  }

  func view(_ texts: Texts, now: Date) -> FileReachView {
    FileReachView(
      places: places.map { place in
        let credential = place.overview.credentials.first {
          $0.provider == place.provider && $0.environment == place.environment
        }
        return FileReachRow(
          place: place, environment: place.environment.word(texts),
          current: CredentialState(credential, now: now).text(texts), planned: place.planned.words(texts))
      }, bundleID: bundleID)
  }
}

extension Forecast.Plan {
  /// For example “2 scheduled, 1 repeating”.
  func words(_ texts: Texts) -> String {
    let parts = [("forecast.scheduled", pushes.count), ("forecast.repeating", schedules.count)]
    let words = parts.filter { $0.1 > 0 }.map { texts($0.0, count: $0.1) }
    return words.isEmpty ? "–" : texts.list(words)
  }
}

/// For `certificates/_reach`.
struct FileReachView: View {
  let places: [FileReachRow]
  let bundleID: String?

  static let fields: [Field<Self>] = [
    .list("places") { $0.places },
    .flag("has_places") { !$0.places.isEmpty },
    .text("new_app") { view in
      let name = view.bundleID?.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
      return "/apps/new" + (name.map { "?bundle_id=\($0)" } ?? "")
    },
  ]
}

struct FileReachRow: View {
  let place: FileReach.Place
  let environment: String
  /// The credential that sends there now.
  let current: String
  let planned: String

  static let fields: [Field<Self>] = [
    .written("app_id") { $1.write(Int($0.place.overview.id)) },
    .text("app") { $0.place.overview.app.name },
    .text("environment") { $0.environment },
    .flag("production") { $0.place.environment == .production },
    .text("current") { $0.current },
    .text("planned") { $0.planned },
    .number("devices") { row in
      row.place.overview.count(environment: row.place.environment, provider: row.place.provider, state: .active)
    },
  ]
}
