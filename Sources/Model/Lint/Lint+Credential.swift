extension Lint {
  /// What the app's key or certificate may not send: APNs would refuse each push of it (`TopicDisallowed`,
  /// `BadCertificateEnvironment` and their like).
  static func credential(_ draft: PushDraft, _ payload: APNsPayload, _ context: Context) -> [Finding] {
    guard let scope = context.credential, !scope.sends(payload.pushType, to: payload.topic) else { return [] }
    let types = scope.types(for: draft.app)
    let fix =
      types.contains(.alert) && draft.options.pushType != nil
      ? changing(draft) {
        $0.options.pushType = nil
        $0.apns.headers[APNsHeader.pushType] = nil
        $0.apns.headers[APNsHeader.topic] = nil
      } : nil
    let message: LintMessage =
      switch payload.pushType {
      case .mdm where scope.topics == nil: .credentialIsKey
      case .location where scope.topics != nil: .credentialIsCertificate
      default: .credentialTopic
      }
    let arguments = [
      "name": scope.name, "type": payload.pushType.rawValue, "topic": payload.topic ?? "–",
      "types": types.isEmpty ? "none" : types.map(\.rawValue).joined(separator: ", "),
      "topics": scope.topics?.sorted().joined(separator: ", ") ?? "–",
    ]
    return [finding(.error, "options.push_type", message, arguments, fix: fix)]
  }
}
