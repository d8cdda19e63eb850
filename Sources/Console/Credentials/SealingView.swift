import Mustache
import Store

/// `/certificates/key`: the key of this installation, and what to do if it is lost.
struct SealingView: PageView {
  static let template = "certificates/key"
  static let section: Section? = .certificates

  let state: Sealing.State
  let path: String
  let closed: [LinkView]
  let error: String

  static let fields: [Field<Self>] = [
    .flag("is_missing") { $0.state == .missing },
    .flag("is_other") { if case .other = $0.state { true } else { false } },
    .flag("fits") { $0.state == .fits },
    .text("file") { $0.path },
    .list("closed") { $0.closed },
    .flag("has_closed") { !$0.closed.isEmpty },
    .view("confirm") { FieldView(error: $0.error) },
  ]
}

/// The certificates that do not open with the key of this installation, for `certificates/_sealing`.
struct SealingNotice: View {
  let state: Sealing.State
  let closed: [LinkView]
  /// How many are not listed; zero or less if all are.
  let more: Int
  let mayBegin: Bool

  static let fields: [Field<Self>] = [
    .flag("is_missing") { $0.state == .missing },
    .flag("is_other") { if case .other = $0.state { true } else { false } },
    .flag("fits") { $0.state == .fits },
    .list("closed") { $0.closed },
    .view("more") { $0.more > 0 ? CountView(count: $0.more) : nil },
    .flag("may_begin") { $0.mayBegin },
  ]
}
