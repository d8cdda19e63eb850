package import Model

extension PushDraft {
  /// The keys of its request without effect, as the request named them: for nobody, or for those of the devices that
  /// JPush does not reach.
  ///
  /// - Parameter reached: platforms and services of the devices; nil: not counted yet.
  package func unusedKeys(_ reached: [Reach]?) -> [String] {
    let names = jpush.names
    // Until the devices are counted, there may be some that JPush does not reach.
    let others = reached.map { $0.filter { $0.provider != .jpush } }
    let isAndroid = platforms.contains(.android) && others?.contains { $0.platform == .android } != false
    return unused + (isAndroid ? names.android : []) + (others?.isEmpty == true ? [] : names.all)
  }
}

extension AudienceCount {
  /// Platforms and services of the devices that a push would be sent to.
  package var reached: [Reach] { Reach.all.filter { reachable($0) > 0 } }
}
