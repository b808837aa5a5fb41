/** Where an arrow key leads among points in rows of `columns`; undefined for other keys. A series has one row. */
export function keyTarget(
  key: string,
  at: number,
  { count, columns }: { readonly count: number; readonly columns: number },
): number | undefined {
  const to = stepTo(key, at, columns);
  if (to === undefined) return undefined;
  if (key === "End") return count - 1;
  return to >= 0 && to < count ? to : at;
}

function stepTo(key: string, at: number, columns: number): number | undefined {
  switch (key) {
    case "ArrowLeft":
      return at - 1;
    case "ArrowRight":
      return at + 1;
    case "ArrowUp":
      return at - columns;
    case "ArrowDown":
      return at + columns;
    case "Home":
    case "End":
      return 0;
    default:
      return undefined;
  }
}
