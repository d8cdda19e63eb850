enum PushesAPI { static func add(to routes: inout ConsoleRouter) {} }
