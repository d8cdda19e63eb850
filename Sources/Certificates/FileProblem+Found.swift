import Push

extension FileProblem {
  /// What a file is that is none of ours.
  public enum Found: String, Sendable, Hashable, CaseIterable {
    case unknown
    case text
    case image
    case archive
    case document
    case wordDocument = "word_document"
    case webPage = "web_page"
    case mail
    case json
    case googleServices = "google_services"
    case googleClient = "google_client"
    case googleUser = "google_user"
    case publicKey = "public_key"
    case certificateRequest = "certificate_request"
    case certificateBundle = "certificate_bundle"
    case revocationList = "revocation_list"
    case configurationProfile = "configuration_profile"
    case otherPEM = "other_pem"
    case brokenFrame = "broken_frame"
    case keystore
    case keychain
    case macCompanion = "mac_companion"
    case propertyList = "property_list"
    case sshKey = "ssh_key"
    case pgpKey = "pgp_key"
    case app
    case deviceToken = "device_token"
    case lossyToken = "lossy_token"
    case readAsText = "read_as_text"

    /// Names what was found and what to do, or what was expected instead.
    var problem: Problem {
      Problem(
        "file", code: "file.not_a_certificate.\(rawValue)",
        remedy.map { "\(what) \($0)" } ?? "\(what) \(Self.expected)",
        self == .lossyToken ? ["remedy": TokenMessage.remedy] : [:])
    }

    private static let expected =
      "Expected: a certificate with its key (.p12, .pfx, .pem), a certificate (.cer, .crt), an APNs key (.p8), a "
      + "provisioning profile (.mobileprovision), a Google service account (.json) or JPush’s keys."

    private var what: String {
      switch self {
      case .unknown: "This is no certificate file, or it is damaged from its first bytes on."
      case .text: "This is a text without a certificate or key in it."
      case .image: "This is an image."
      case .archive: "This is an archive."
      case .document: "This is a document (PDF)."
      case .wordDocument: "This is a document of a word processor."
      case .webPage: "This is a web page: the download asked for a sign-in and saved the page instead of the file."
      case .mail: "This is a mail."
      case .json: "This is a JSON file that is neither a Google service account nor JPush’s keys."
      case .googleServices: "This is google-services.json, which Android apps are built with; it cannot send."
      case .googleClient: "This is an OAuth client of Google’s, which signs people in; it cannot send."
      case .googleUser: "These are the credentials of a person at Google, not of a service account."
      case .publicKey: "This is a public key alone."
      case .certificateRequest: "This is a certificate request (CSR), not the certificate."
      case .certificateBundle: "This is a bundle of certificates without a key (PKCS#7, .p7b)."
      case .revocationList: "This is a list of revoked certificates (CRL)."
      case .configurationProfile: "This is a configuration profile (.mobileconfig) for devices."
      case .otherPEM: "This is a text in PEM form, with neither a certificate nor a private key in it."
      case .brokenFrame:
        "The lines -----BEGIN …----- and -----END …----- were changed: some program made other dashes of them."
      case .keystore: "This is a keystore of Java."
      case .keychain: "This is a whole keychain of a Mac."
      case .macCompanion:
        "This is the companion (“._…”) that macOS puts beside a file in archives; the file proper is next to it."
      case .propertyList: "This is a property list, and no signed provisioning profile."
      case .sshKey: "This is a key of SSH."
      case .pgpKey: "This is a key or message of PGP."
      case .app: "This is a whole app."
      case .deviceToken: "This is a device token, the address of one device."
      case .lossyToken: "This is the description of a device token, which has lost its middle (“...”)."
      case .readAsText: "This was a binary file that some program read as text: its bytes are lost."
      }
    }

    private var remedy: String? {
      switch self {
      case .archive: "Unpack it and choose the file inside."
      case .wordDocument:
        "Save the certificate’s text as plain text (.txt), or export the file again from where it came."
      case .webPage: "Sign in at Apple’s developer site in the browser, and download the file again."
      case .mail: "Save its attachment and choose that."
      case .googleServices, .googleClient, .googleUser:
        "For the key that sends: Firebase console, Project settings, Service accounts, Generate new private key."
      case .publicKey: "The private half is needed: choose the .p8 or .p12 file."
      case .certificateRequest:
        "Upload it at Apple’s developer site; bring the .cer that you get for it, with the key as .p12."
      case .certificateBundle:
        "To watch its certificates: openssl pkcs7 -inform DER -print_certs -in file.p7b -out certificates.pem; to send, "
          + "export certificate and key as .p12."
      case .configurationProfile: "A provisioning profile ends in .mobileprovision; download that one."
      case .brokenFrame:
        "Copy the text from the file itself instead of a document or chat, or put five hyphens at each of these places."
      case .keystore:
        "Convert it: keytool -importkeystore -srckeystore FILE -destkeystore new.p12 -deststoretype PKCS12"
      case .keychain: "Open it in Keychain Access, select the certificate with its key, and export that as .p12."
      case .macCompanion: "Choose the file of the same name without “._” in front."
      case .propertyList: "Download the .mobileprovision file from Apple’s developer site."
      case .app:
        "Its profile is inside: unzip -p App.ipa 'Payload/*/embedded.mobileprovision' > app.mobileprovision"
      case .deviceToken: "Add it under Devices."
      case .lossyToken: "Log the token in the app with {remedy}, and add it under Devices."
      case .readAsText: "Download or export it again, and copy it in binary form."
      default: nil
      }
    }
  }
}
