extension TLSIdentity {
  /// Takes certificates and a key that were read before.
  ///
  /// - Parameter chain: the own certificate first, then its issuers.
  package init(chain: [Certificate], key: PrivateKey) {
    self.init(certificateChainPEM: Array(chain.map(\.pem).joined().utf8), privateKeyPEM: Array(key.pkcs8PEM.utf8))
  }
}

extension TLSTrust {
  /// Only these certificates.
  package static func certificates(_ certificates: [Certificate]) -> TLSTrust {
    .pem(Array(certificates.map(\.pem).joined().utf8))
  }
}
