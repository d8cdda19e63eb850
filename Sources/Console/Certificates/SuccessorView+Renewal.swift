import Certificates
import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import Store

extension SuccessorView {
  /// - Parameter report: the result of a trial; nil if there was none.
  init(_ renewal: Renewal, _ report: CertificateSwitch.Report?, _ page: PageContext) {
    let texts = page.texts
    self.init(
      renewal: renewal, uid: page.request.parameters["uid"] ?? "", outcome: report?.outcome,
      rows: Self.rows(renewal.old.details, renewal.details, texts),
      findings: renewal.findings.map {
        FindingRow(level: $0.level, label: texts("renewal.level_\($0.level.rawValue)"), text: texts.text($0.problem))
      }, moves: renewal.uses.map { MovedCredentialRow(use: $0) },
      attempts: (report?.attempts ?? []).map { AttemptRow($0, texts) }, isTicked: page.form["untried"] == "yes")
  }

  private static func rows(
    _ old: TrackedCertificate.Details, _ new: TrackedCertificate.Details, _ texts: Texts
  ) -> [ComparedRow] {
    func words(_ environments: [Model.Environment]) -> String {
      texts.list(environments.map { $0.word(texts) })
    }
    func kind(_ kind: String) -> String { texts("certificates.kinds.\(kind)") }
    let rows: [(String, String?, String?)] = [
      ("certificates.name", old.name, new.name), ("certificates.kind", kind(old.kind), kind(new.kind)),
      ("certificates.topics", texts.list(old.topics), texts.list(new.topics)),
      ("certificates.environments", words(old.environments), words(new.environments)),
      ("certificates.team", old.teamID, new.teamID), ("certificates.key_id", old.keyID, new.keyID),
      ("certificates.serial", old.serial, new.serial),
      ("certificates.not_before", old.notBefore.map(texts.minute), new.notBefore.map(texts.minute)),
      (
        "certificates.not_after", old.notAfter.map(texts.minute) ?? texts("certificates.never"),
        new.notAfter.map(texts.minute) ?? texts("certificates.never")
      ),
    ]
    return rows.filter { $0.1?.isEmpty == false || $0.2?.isEmpty == false }.map { label, old, new in
      let (before, after) = (old ?? "", new ?? "")
      return ComparedRow(label: texts(label), old: before.isEmpty ? "–" : before, new: after.isEmpty ? "–" : after)
    }
  }
}
