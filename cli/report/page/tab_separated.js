// A table as tab-separated text: numbers with all their digits, one line per row.

export function tabSeparated(table) {
  const field = (cell) => (cell.dataset.value ?? cell.textContent).replace(/[\t\r\n]+/g, " ");
  return Array.from(table.rows, (row) => Array.from(row.cells, field).join("\t")).join("\n") + "\n";
}
