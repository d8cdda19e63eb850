import Testing

@testable import HTTPServer

@Suite("Scripts that are joined")
struct ScriptBundleTests {
  private static let page = """
    // What several modules need.

    /** Says it. */
    export function say(text) {
      // Twice.
      return `${text} // ${text}`;
    }

    /**
     * Looks.
     */
    export async function look() {}
    export const key = 'a /* b */';
    let count = 0;

    """

  private static func joined(_ name: String, _ sources: [String: String]) -> String? {
    let bundle = ScriptBundle(sources.mapValues { Array($0.utf8) }, core: "core")
    return bundle.joined(name).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("the core has its modules in scopes of their own, without comments and indentation, and gives them to others")
  func core() {
    let sources = ["core": "import { say } from './page.js';\n\nsay(1);\n", "page": Self.page]
    #expect(
      Self.joined("core", sources) == """
        const $page = (() => {
        function say(text) {
        return `${text} // ${text}`;
        }
        async function look() {}
        const key = 'a /* b */';
        let count = 0;
        return { say, look, key };
        })();
        const { say } = $page;
        say(1);
        export { $page };

        """)
    #expect(Self.joined("page", sources) == nil, "part of the core")
  }

  @Test("a script has what it imports once, takes what the core has from there, and exports what it did")
  func script() {
    let sources = [
      "core": "import { say } from './page.js';\nsay();\n", "page": Self.page,
      "send": """
      import './pick.js';
      import { rows } from './rows.js';
      import { say } from './page.js';
      say(rows());
      """,
      "pick": "import { rows } from './rows.js';\nimport { key } from './page.js';\nrows(key);\n",
      "rows": "export const rows = () => [];\n", "alone": "export function open() {}\n",
    ]
    #expect(
      Self.joined("send", sources) == """
        import { $page } from './core.js';
        const $rows = (() => {
        const rows = () => [];
        return { rows };
        })();
        const $pick = (() => {
        const { rows } = $rows;
        const { key } = $page;
        rows(key);
        return {  };
        })();
        const { rows } = $rows;
        const { say } = $page;
        say(rows());

        """)
    #expect(Self.joined("alone", sources) == "function open() {}\nexport { open };\n")
  }

  @Test(
    "what is not understood is served as it is",
    arguments: [
      "import { a as b } from './page.js';", "import * as page from './page.js';", "import page from './page.js';",
      "import './none.js';", "import './page.js'", "import '../page.js';", "import {\n  say,\n} from './page.js';",
      "import './core.js';", "import './self.js';", "export default 1;", "export let a = 1;", "export { a };",
      "const text = `a\n  b`;", "const text = 'a\\\nb';", "/* a */ run(); /* b */", "/* a */ run();",
    ])
  func others(source: String) {
    let sources = ["core": "import { say } from './page.js';\nsay();\n", "page": Self.page, "self": source]
    #expect(Self.joined("self", sources) == nil)
    #expect(Self.joined("core", sources) != nil)
  }

  @Test("with a core that is not understood nothing is joined: a module would be there twice")
  func brokenCore() {
    let sources = ["core": "import page from './page.js';", "page": Self.page, "send": "import './page.js';\n"]
    #expect(Self.joined("core", sources) == nil)
    #expect(Self.joined("send", sources) == nil)
  }
}
