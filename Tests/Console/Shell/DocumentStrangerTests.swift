import Foundation
import HTTPServer
import JSON
import Logging
import Model
import Store
import TestSupport
import Testing

/// Other people's programs that read `openapi.json`, against the server that it describes.
@Suite("API: strangers with the document")
struct DocumentStrangerTests {
  private static let python = ProcessInfo.processInfo.environment["SIGNALBOX_TEST_OPENAPI"]
  private static let document = ConsoleScene.root.appendingPathComponent("Public/api/openapi.json").path
  private static let scripts = ConsoleScene.root.appendingPathComponent("Tests/Console/Fixtures/strangers").path

  private static func withFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    try await body(folder)
  }

  @Test(
    "schemathesis: what fits a schema is not refused for its form, what does not fit is refused, answers fit",
    .enabled(if: python != nil, "SIGNALBOX_TEST_OPENAPI is not set: script/test sets it"))
  func agreement() async throws {
    let tool = URL(fileURLWithPath: try #require(Self.python)).deletingLastPathComponent().path + "/schemathesis"
    try await ConsoleScene.with(simulator: true) { scene in
      _ = try await SceneWorld.demo.fill(scene)
      try await Self.withFolder { folder in
        // Places in the demo's world, so that bodies are read and not only addresses.
        let settings = folder.appendingPathComponent("schemathesis.toml")
        try Data(
          """
          [parameters]
          "path.app" = "\(ConsoleScene.bundleID)"
          "path.id" = 1
          "path.environment" = "development"
          "path.name" = "vip"
          "path.device" = "1a0018970a8f4a3b2c1"
          "path.change" = 1
          "path.uid" = "none"
          "query.wait" = "0s"
          """.utf8
        ).write(to: settings)
        try await WebTestServer.with(scene.router) { address in
          // What would talk to other servers stays out, and what would remove the places.
          let (status, output) = try await OtherProgram.run(
            tool,
            [
              "--config-file", settings.path, "run", Self.document, "--url", "http://\(address)",
              "-H", "Authorization: \(scene.authorization(.admin))", "--phases", "coverage,fuzzing",
              "--max-examples", "6", "--seed", "1", "--generation-database", "none", "--no-color",
              "--continue-on-failure", "--exclude-method", "DELETE", "--exclude-path-regex", "/test$|/probe$",
              "--checks",
              "agreement,not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
            ], in: folder,
            environment: [
              "PYTHONPATH": Self.scripts, "SCHEMATHESIS_HOOKS": "agreement", "PYTHONDONTWRITEBYTECODE": "1",
            ])
          // Its beginning is a list of what went well.
          #expect(status == 0, "\(output.drop { $0 != "=" }.prefix(20_000))")
        }
      }
      #expect(scene.log.entries.filter { $0.level >= .error }.map { "\($0)" } == [])
    }
  }

  @Test(
    "a client that openapi-python-client made sends pushes and reads the answers",
    .enabled(if: python != nil, "SIGNALBOX_TEST_OPENAPI is not set: script/test sets it"))
  func generatedClient() async throws {
    let python = try #require(Self.python)
    try await ConsoleScene.with { scene in
      try await scene.addDevices(5, of: try await scene.addApp())
      try await Self.withFolder { folder in
        let settings = folder.appendingPathComponent("generator.yaml")
        try Data(
          """
          post_hooks: []
          content_type_overrides:
            text/csv: application/octet-stream
            application/x-ndjson: application/octet-stream
          """.utf8
        ).write(to: settings)
        let (made, said) = try await OtherProgram.run(
          python,
          [
            "-m", "openapi_python_client", "generate", "--path", Self.document, "--output-path",
            folder.path + "/client", "--meta", "none", "--config", settings.path, "--fail-on-warning",
          ], in: folder)
        try #require(made == 0, "\(said)")
        try await WebTestServer.with(scene.router) { address in
          let token = String(scene.authorization(.operator).dropFirst("Bearer ".count))
          let (status, output) = try await OtherProgram.run(
            python,
            [Self.scripts + "/client.py", "http://\(address)", token, ConsoleScene.bundleID, folder.path], in: folder)
          #expect(status == 0, "\(output)")
        }
      }
    }
  }
}
