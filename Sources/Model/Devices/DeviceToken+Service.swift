extension DeviceToken {
  /// Parses a token together with the service that reaches the device.
  ///
  /// - Parameter provider: nil: the platform's own, but FCM for an iPhone with a Firebase registration token: apps that
  ///   are made with Flutter have no other.
  package static func reading(
    _ text: String, platform: Platform, provider: ProviderKind?
  ) throws(Problem) -> (token: DeviceToken, provider: ProviderKind) {
    if let provider {
      return (try DeviceToken(parsing: text, platform: platform, provider: provider), provider)
    }
    do {
      return (try DeviceToken(parsing: text, platform: platform), platform.ownProvider)
    } catch {
      guard error.code == TokenMessage.looksLikeFCM.code else { throw error }
      return (try DeviceToken(parsing: text, platform: platform, provider: .fcm), .fcm)
    }
  }

  /// Whether it is a Firebase registration token. Of one that is kept as its bytes alone, the usual form decides, which
  /// 32 random bytes never have by chance.
  package var isFirebase: Bool {
    if isText { return !isRegistrationID }
    let mark = Array(":APA91".utf8)
    return bytes.count > mark.count
      && bytes.indices.dropLast(mark.count - 1).contains { bytes[$0] == mark[0] && bytes[$0...].starts(with: mark) }
  }
}
