import Model
import Testing

@Suite("Who may decide on a push that needs approval")
struct ApprovalRuleTests {
  private typealias Actor = ApprovalRule.Actor

  private static let anna = Actor("anna@example.com", person: 1)
  private static let annasToken = Actor("token deploy", person: 1)
  private static let ben = Actor("ben@example.com", person: 2)
  private static let bensToken = Actor("token ci", person: 2)
  private static let nobodysToken = Actor("token build", person: nil)
  private static let key = Actor("jpush abc", person: nil)
  private static let root = Actor("cli root", person: nil, isCommandLine: true)
  private static let deploy = Actor("cli deploy", person: nil, isCommandLine: true)

  @Test("a second person, who may send to production; the same one never, by whatever door", arguments: [0, 1])
  func table(withoutPermission: Int) {
    let rows: [(asker: ApprovalRule.Actor, decider: ApprovalRule.Actor, refusal: ApprovalMessage?)] = [
      (Self.anna, Self.ben, nil), (Self.anna, Self.bensToken, nil), (Self.anna, Self.root, nil),
      (Self.annasToken, Self.ben, nil), (Self.key, Self.anna, nil), (Self.key, Self.root, nil),
      (Self.nobodysToken, Self.anna, nil), (Self.root, Self.anna, nil), (Self.root, Self.deploy, nil),
      (Self.anna, Self.anna, .own), (Self.anna, Self.annasToken, .own), (Self.annasToken, Self.anna, .own),
      (Self.annasToken, Self.annasToken, .own), (Self.root, Self.root, .own),
      // Renamed meanwhile: the person counts, not the name.
      (Actor("anna.old@example.com", person: 1), Self.anna, .own),
      // Who stands behind them is not known.
      (Self.anna, Self.nobodysToken, .nobody), (Self.nobodysToken, Self.nobodysToken, .nobody),
      (Self.anna, Self.key, .nobody),
    ]
    let maySend = withoutPermission == 0
    for row in rows {
      let expected = row.refusal ?? (maySend ? nil : .notPermitted)
      let found = ApprovalRule.refusal(of: row.decider, askedBy: row.asker, maySend: maySend)
      #expect(found == expected, "\(row.asker.name) asked, \(row.decider.name) decides")
    }
  }
}
