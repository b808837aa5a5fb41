import type { components } from "../../../../.build/console/openapi.ts";
import { formatCount } from "../format/figure.ts";

export type Import = components["schemas"]["Import"];
export type ImportKind = Import["kind"];

/** What the records of each kind are called, and how the file finds an existing one. */
export const KINDS: Readonly<
  Record<ImportKind, { readonly plural: string; readonly foundBy: string }>
> = {
  offers: { plural: "offers", foundBy: "code" },
  affiliates: { plural: "partners", foundBy: "code" },
  advertisers: { plural: "advertisers", foundBy: "name" },
};

export function isOpen({ ended_at: endedAt }: Pick<Import, "ended_at">): boolean {
  return endedAt === null;
}

/** Rows that are done while an import is written. */
export function rowsDone(found: Import): number {
  return found.rows_created + found.rows_updated + found.rows_left_out + found.rows_already_written;
}

/** What has become of the rows so far, in words. */
export function rowsInWords(found: Import): string {
  const counted: readonly (readonly [number, string])[] = found.dry_run
    ? [
        [found.rows_to_create, "would be created"],
        [found.rows_to_update, "would be changed"],
        [found.rows_already_written, "written by an earlier import"],
        [found.rows_faulty, "with faults"],
      ]
    : [
        [found.rows_created, "created"],
        [found.rows_updated, "changed"],
        [found.rows_already_written, "written by an earlier import"],
        [found.rows_left_out, "left out"],
        [found.rows_faulty - found.rows_left_out, "with faults"],
      ];
  const some = counted.filter(([count]) => count > 0);
  const words = some.map(([count, what]) => `${formatCount(count)} ${what}`);
  const rows = `${formatCount(found.rows_checked)} ${found.rows_checked === 1 ? "row" : "rows"}`;
  return words.length === 0 ? rows : `${rows}: ${words.join(", ")}`;
}
