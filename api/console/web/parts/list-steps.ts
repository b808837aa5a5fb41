/** The line that the arrow keys reach from another: after the last comes the first. */
export function stepped(at: number, by: number, count: number): number {
  return count === 0 ? 0 : (at + by + count) % count;
}

/** The line that a key of a list leads to; undefined for a key that moves nothing. */
export function steppedByKey(key: string, at: number, count: number): number | undefined {
  switch (key) {
    case "ArrowDown":
      return stepped(at, 1, count);
    case "ArrowUp":
      return stepped(at, -1, count);
    case "Home":
      return 0;
    case "End":
      return Math.max(0, count - 1);
    default:
      return undefined;
  }
}
