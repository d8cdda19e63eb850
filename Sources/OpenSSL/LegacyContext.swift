import COpenSSL

/// An OpenSSL library context of our own that also knows the algorithms of old files, RC2-40 above all.
///
/// It is kept apart because loading the provider "legacy" into the global context would offer these algorithms
/// to everything, and would end the automatic loading of "default" (OSSL_PROVIDER-legacy(7)).
enum LegacyContext {
  private struct Loaded: @unchecked Sendable {
    // because the context is made once, never freed, and may be used by many threads (OSSL_LIB_CTX(3)).
    let context: OpaquePointer
  }

  private static let loaded: Loaded? = {
    guard let context = OSSL_LIB_CTX_new() else { return nil }
    guard OSSL_PROVIDER_load(context, "default") != nil else {
      OSSL_LIB_CTX_free(context)
      return nil
    }
    // Where its module is not installed, all files but the old ones are read nevertheless.
    _ = OSSL_PROVIDER_load(context, "legacy")
    OpenSSLError.clear()
    return Loaded(context: context)
  }()

  /// The context, made at the first call.
  static func context() throws(PKCS12Error) -> OpaquePointer {
    guard let loaded else { throw .damaged(OpenSSLError("loading OpenSSL's providers")) }
    return loaded.context
  }
}
