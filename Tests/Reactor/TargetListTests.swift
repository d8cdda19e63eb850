import Testing

@testable import Reactor

@Suite("Where connections may go")
struct TargetListTests {
  private static let list = [
    "hooks.example.com", "*.corp.example", "10.1.0.0/16", "192.0.2.7", "2001:db8:1::/48", "localhost",
  ]

  private func permitted(_ list: TargetList, _ host: String, _ addresses: [String]) -> Result<[String], RefusedTarget> {
    let found = addresses.compactMap { SocketAddress(host: $0, port: 443) }
    #expect(found.count == addresses.count)
    do throws(RefusedTarget) { return .success(try list.permitted(found, of: host).map(\.host)) } catch {
      return .failure(error)
    }
  }

  @Test("names count whatever their address, networks whatever the name; link-local never")
  func list() throws {
    let list = try TargetList(Self.list)
    for (host, addresses, kept) in [
      ("hooks.example.com", ["203.0.113.9"], ["203.0.113.9"]), ("HOOKS.example.com.", ["203.0.113.9"], ["203.0.113.9"]),
      ("a.b.corp.example", ["203.0.113.9"], ["203.0.113.9"]), ("other.example", ["10.1.2.3"], ["10.1.2.3"]),
      ("other.example", ["203.0.113.9", "10.1.2.3"], ["10.1.2.3"]), ("192.0.2.7", ["192.0.2.7"], ["192.0.2.7"]),
      ("other.example", ["2001:db8:1::5"], ["2001:db8:1::5"]), ("x", ["::ffff:10.1.2.3"], ["::ffff:10.1.2.3"]),
      ("localhost", ["127.0.0.1"], ["127.0.0.1"]),
      ("hooks.example.com", ["169.254.169.254", "203.0.113.9"], ["203.0.113.9"]),
    ] {
      #expect(permitted(list, host, addresses) == .success(kept), "\(host) \(addresses)")
    }
    for (host, address) in [
      ("corp.example", "203.0.113.9"), ("evilcorp.example", "203.0.113.9"), ("example.com", "203.0.113.9"),
      ("x.hooks.example.com", "203.0.113.9"), ("other.example", "10.2.0.1"), ("other.example", "192.0.2.8"),
      ("other.example", "2001:db8:2::5"), ("other.example", "127.0.0.1"),
    ] {
      let refused = RefusedTarget(reason: .notListed, host: host, address: address)
      #expect(permitted(list, host, [address]) == .failure(refused), "\(host) \(address)")
    }
    #expect(
      permitted(list, "hooks.example.com", ["169.254.169.254"])
        == .failure(RefusedTarget(reason: .linkLocal, host: "hooks.example.com", address: "169.254.169.254")))
  }

  @Test("without a list everything but link-local; through a proxy the name or the address itself decides")
  func others() throws {
    #expect(permitted(.any, "other.example", ["10.2.0.1"]) == .success(["10.2.0.1"]))
    #expect(permitted(.any, "other.example", ["fd00:ec2::254"]) != .success(["fd00:ec2::254"]))
    #expect(try TargetList([]) == .any)
    let list = try TargetList(Self.list)
    try list.check("a.corp.example")
    try list.check("10.1.2.3")
    try TargetList.any.check("other.example")
    for host in ["other.example", "10.2.0.1", "[2001:db8:2::5]", "169.254.169.254"] {
      #expect(throws: RefusedTarget.self, "\(host)") { try list.check(host) }
    }
    #expect(throws: RefusedTarget.self) { try TargetList.any.check("169.254.169.254") }
  }

  @Test(
    "what is no name and no network is refused",
    arguments: ["", "a b", "10.0.0.0/33", "http://x", "*", "a..b", "::/129"])
  func wrong(entry: String) {
    #expect(throws: TargetList.BadEntry(text: entry)) { try TargetList(["good.example", entry]) }
  }
}
