import OpenSSL

extension AppleExtensions.Topic {
  /// As `com.example.app.voip (voip)`.
  var text: String { kinds.isEmpty ? name : "\(name) (\(kinds.joined(separator: ", ")))" }
}
