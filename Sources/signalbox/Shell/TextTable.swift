import Model
import Text

/// Rows under headings, in aligned columns, for a terminal.
struct TextTable {
  private var rows: [[String]]

  init(_ headings: String...) { rows = [headings] }

  mutating func add(_ cells: String...) { rows.append(cells.map(singleLine)) }

  /// Lines without line ends; only the headings if there are no rows.
  var lines: [String] {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = zip(row, widths).map { cell, width in
        cell + String(repeating: " ", count: width - cell.count)
      }
      let line = cells.joined(separator: "  ")
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }
}

/// Keeps stored names from adding lines to a list or sending control codes to the terminal.
func singleLine(_ text: String) -> String { text.singleLine }

extension CommandIO {
  func print(_ table: TextTable) { for line in table.lines { print(line) } }
}
