import { type Dimension, isTime } from "./dimensions.ts";
import { indent } from "./indent.ts";
import type { Sum } from "./measures.ts";

/**
 * Rows that were counted on a day of UTC but belong to another day of the zone. Each appears twice: subtracted from the first day,
 * added to the second. `text` has one column `d0`… for each dimension, and for a time two: `from0`… in UTC and `to0`… in the zone.
 */
export function moved(
  text: string,
  groupBy: readonly Dimension[],
  {
    moneyKeys,
    sums: names,
  }: { readonly moneyKeys: readonly string[]; readonly sums: readonly Sum[] },
): string {
  const keys = groupBy.map(({ kind }, index) => {
    const value = isTime(kind)
      ? `if(direction > 0, moved.to${index}, moved.from${index})`
      : `moved.d${index}`;
    return `${value} as d${index}`;
  });
  const sums = names.map((name) => `moved.s_${name} * direction as s_${name}`);
  return [
    `select ${[...keys, ...moneyKeys.map((name) => `moved.${name} as ${name}`), ...sums].join(", ")}`,
    `from (\n${indent(text)}\n) as moved`,
    "array join [1, -1] as direction",
  ].join("\n");
}

/**
 * Combines pieces of one source, including moved rows. A group whose rows were all moved away disappears, and amounts that cancel
 * out do not count as money in another currency. `names` are the columns that are not sums; `count`, which the pieces have too, counts rows.
 */
export function netted(
  pieces: readonly string[],
  names: readonly string[],
  { sums: used, count }: { readonly sums: readonly Sum[]; readonly count: Sum },
): string {
  const columns = names.map((name) => `piece.${name} as ${name}`);
  const sums = used.map((name) => `sum(piece.s_${name}) as s_${name}`);
  return [
    `select ${[...columns, ...sums].join(", ")}`,
    `from (\n${indent(pieces.join("\nunion all\n"))}\n) as piece`,
    `group by ${names.join(", ")}`,
    `having sum(piece.s_${count}) != 0`,
  ].join("\n");
}
