import JSON
import Model
import Store

extension App {
  var audited: JSONValue {
    ["name": .string(name), "package_name": .optional(packageName), "alias_rule": .optional(aliasRule)]
  }
}
