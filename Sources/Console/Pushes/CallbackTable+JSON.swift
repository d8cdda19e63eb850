package import JSON
package import Model

/// The schema `CallbackSituation`: what one push makes an iOS app see in one situation.
extension CallbackTable.Cell: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("ios", generation.rawValue)
    json.member("state", state.rawValue)
    json.member("background_mode", backgroundMode)
    json.array("on_arrival", arrival) { json, call in call.write(to: &json) }
    json.member("banner", banner.rawValue)
    json.array("on_tap", tap) { json, call in call.write(to: &json) }
    json.member("by_icon", icon.rawValue)
    json.object("calls") { json in
      json.member("least", calls.lowerBound)
      json.member("most", calls.upperBound)
    }
    // Guides are many, and their names say nothing outside of docs/protocols.md.
    let words = [sources.contains(.apple) ? "apple" : nil, sources == [.apple] ? nil : "developer_guides"]
    json.array("sources", words.compactMap(\.self)) { json, word in json.string(word) }
    json.array("disagreements", contradictions) { json, one in json.string(one.name) }
    json.array("notes", notes) { json, note in json.string(note.name) }
  }
}

extension CallbackTable.Call: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("method", method.swiftName)
    json.member("condition", condition.rawValue)
  }
}
