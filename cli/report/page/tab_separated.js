// A table as tab-separated text: numbers with all their digits, one line per row.

function field(cell) { return (cell.dataset.value ?? cell.textContent).replace(/[\t\r\n]+/g, ' '); }

export function tabSeparated(table) {
  return Array.from(table.rows, (row) => Array.from(row.cells, field).join('\t')).join('\n') + '\n';
}
