enum CertificatesAPI { static func add(to routes: inout ConsoleRouter) {} }
