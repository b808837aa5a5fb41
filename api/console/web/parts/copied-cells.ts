import type { ClipboardEvent } from "react";
import { spreadsheetText } from "../../../../schemas/names/spreadsheet-text.ts";

/**
 * Cells that somebody copies from a table reach a spreadsheet by the same rule as CSV: texts of strangers never become formulas. One cell
 * alone is copied as it is written, because it may be meant for a search.
 */
export function copyCells(event: ClipboardEvent<HTMLElement>): void {
  const selection = getSelection();
  if (selection === null) return;
  const chosen = (node: Node): boolean => selection.containsNode(node, true);
  const rows = [...event.currentTarget.querySelectorAll("tr")].filter(chosen);
  const cells = rows.map((row) => [...row.cells].filter(chosen));
  if (cells.flat().length < 2) return;
  event.clipboardData.setData("text/plain", cells.map(lineOf).join("\n"));
  event.preventDefault();
}

function lineOf(cells: readonly HTMLTableCellElement[]): string {
  return cells
    .map((cell) => {
      const text = cell.innerText.replaceAll(/\s+/g, " ").trim();
      return cell.classList.contains("number") ? text : spreadsheetText(text);
    })
    .join("\t");
}
