import JSON
import Model
import Testing

@Suite("JPush's view of a device, and of schedules")
struct JPushDeviceTests {
  private static func device(_ json: JSONValue, alias: String?, tags: [String]) -> JPushDevice {
    JPushDevice(json, registrationID: "1a0018970a8f4a3b2c1", alias: alias, tags: tags)
  }

  private static let differences: [(json: JSONValue, alias: String?, tags: [String], change: JSONValue)] = [
    (
      ["alias": "ada", "tags": ["old", "both"], "mobile": .null], "grace", ["both", "new"],
      ["alias": "grace", "tags": ["add": ["new"], "remove": ["old"]]]
    ),
    (["alias": "ada", "tags": []], nil, [], ["alias": ""]),
    (["alias": "", "tags": .null], "ada", [], ["alias": "ada"]),
    (["alias": "ada", "tags": ["a", "b"]], "ada", [], ["tags": ["remove": ["a", "b"]]]),
  ]

  @Test("what differs becomes one call, and nothing differs afterwards", arguments: differences)
  func changes(json: JSONValue, alias: String?, tags: [String], change: JSONValue) throws {
    let device = Self.device(json, alias: alias, tags: tags)
    #expect(!device.isSame && device.changes.map(\.json) == [change])
    // The simulator reads the call as JPush does.
    let read = try JPushDeviceChange(device.changes[0].json)
    #expect((read.tags(before: device.tags) ?? Set(device.tags)) == Set(tags))
  }

  @Test("the same alias and tags in another order need no call")
  func same() {
    let device = Self.device(
      ["alias": "ada", "tags": ["b", "a"], "mobile": "13800138000"], alias: "ada", tags: ["a", "b"])
    #expect(device.isSame && device.changes.isEmpty && device.mobile == "13800138000")
  }

  @Test("many tags need as many calls as JPush's limits of 100 tags and 1000 bytes ask for", arguments: [3, 40])
  func limits(length: Int) throws {
    let tags = (0..<250).map { String("\(1000 + $0)" + String(repeating: "x", count: max(0, length - 4))) }
    let device = Self.device(["tags": ["gone"]], alias: nil, tags: tags)
    var known = Set(device.tags)
    for change in device.changes {
      let read = try JPushDeviceChange(change.json)
      known = read.tags(before: known) ?? known
    }
    #expect(known == Set(tags))
    #expect(device.changes.count == (length == 40 ? 11 : 3), "\(device.changes.count)")
  }

  @Test("what JPush would refuse is said before it is asked")
  func problems() {
    let device = Self.device([:], alias: "user-1", tags: ["fine", "not-fine"])
    #expect(device.problems.map(\.field) == ["alias", "tags"])
    #expect(Self.device(["tags": ["not-fine"]], alias: nil, tags: ["not-fine"]).problems.isEmpty, "JPush has it")
  }

  private static let pushes: [(push: JSONValue, alert: String?)] = [
    (["notification": ["alert": "one"]], "one"),
    (["notification": ["ios": ["alert": ["title": "t", "body": "two"]]]], "two"),
    (["notification": ["android": ["alert": "three"]]], "three"), (["message": ["msg_content": "four"]], "four"),
    (.object([:]), nil),
  ]

  @Test("a listed schedule says what it sends", arguments: pushes)
  func schedules(push: JSONValue, alert: String?) {
    let schedule = JPushListedSchedule(["schedule_id": "s", "name": "n", "enabled": true, "push": push])
    #expect(schedule?.alert == alert && schedule?.isEnabled == true)
    #expect(JPushListedSchedule(["name": "n"]) == nil)
  }
}
