import Certificates
import Mustache
import Store

/// `/hosts/:id/remove`: asks before a host is no longer watched.
struct HostRemovalView: PageView {
  static let template = "hosts/remove"
  static let section: Section? = .certificates

  let host: WatchedHost

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.host.id)) },
    .text("name") { $0.host.name },
  ]
}
