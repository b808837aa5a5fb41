import type { Column } from "../parts/data-table.tsx";

/** Puts the first column of an amount behind the first column, which names the row. */
export function moneySecond<Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  const money = columns.findIndex(({ isNumber }) => isNumber === true);
  if (money <= 1) return columns;
  return columns.flatMap((column, index) => {
    if (index === 0) return [column, columns[money] ?? column];
    return index === money ? [] : [column];
  });
}
