/** Only the beginning of a longer name is compared, which bounds the work. */
const COMPARED_CHARACTERS_MAX = 64;
const CHARACTERS_PER_EDIT = 3;

/**
 * The known name that is closest to `name`, counted in single-character insertions, deletions, replacements and swaps of
 * neighbours; the first if several are equally close. Ignores letter case. Undefined when no name is known.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  return findNearest(name, known)?.name;
}

/** The nearest name if it may be what was meant: at most one of three characters of the shorter name differs. */
export function similarName(name: string, known: readonly string[]): string | undefined {
  const nearest = findNearest(name, known);
  if (nearest === undefined) return undefined;
  const length = Math.min(name.length, nearest.name.length);
  return nearest.edits * CHARACTERS_PER_EDIT <= length ? nearest.name : undefined;
}

/** The closest known name and its distance; undefined when no name is known. */
export function findNearest(
  name: string,
  known: readonly string[],
): { readonly name: string; readonly edits: number } | undefined {
  let nearest: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const edits = editDistance(compared(name), compared(candidate));
    if (edits >= fewest) continue;
    fewest = edits;
    nearest = candidate;
  }
  return nearest === undefined ? undefined : { name: nearest, edits: fewest };
}

function compared(name: string): string {
  return name.slice(0, COMPARED_CHARACTERS_MAX).toLowerCase();
}

/** Optimal string alignment distance: three rows of its table are enough. */
function editDistance(from: string, to: string): number {
  let older: number[] = [];
  let newer = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const edits = [at(newer, column) + 1, at(current, column - 1) + 1];
      edits.push(at(newer, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1));
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isSwapped && row > 1 && column > 1) edits.push(at(older, column - 2) + 1);
      current.push(Math.min(...edits));
    }
    older = newer;
    newer = current;
  }
  return at(newer, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
