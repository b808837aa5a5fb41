import { useQueryClient } from "@tanstack/react-query";
import { useMembership } from "../member/membership.ts";
import { summaryNames } from "../member/use-write.ts";
import { decisions } from "../parts/decision-notices.tsx";
import type { Skipped } from "../parts/decisions.ts";
import { type DecisionsOf, sendRows } from "./send-rows.ts";

/** One decision, in words and as it is sent. */
type OneDecision<Row, To> = {
  readonly to: To;
  readonly verb: string;
  readonly button: string;
  /** Why a row needs no decision, if it needs none. */
  readonly whyNot?: (row: Row) => string | undefined;
};

/** Decides about rows. The decision waits, and can be taken back, as `Decisions` says. */
export function useDecide<Row, To>(
  of: DecisionsOf<Row, To>,
): (
  rows: readonly Row[],
  one: OneDecision<Row, To>,
  onBack: (keys: readonly string[]) => void,
) => void {
  const { membershipId } = useMembership();
  const queries = useQueryClient();
  const readAgain = async (): Promise<void> => {
    const names = [...of.names, ...summaryNames];
    await Promise.all(
      names.map((name) => queries.invalidateQueries({ queryKey: [membershipId, name] })),
    );
  };
  return (rows, one, onBack) => {
    const byKey = new Map(rows.map((row) => [of.keyOf(row), row]));
    const rowsOf = (keys: readonly string[]): readonly Row[] =>
      keys.flatMap((key) => byKey.get(key) ?? []);
    const skipped = rows.flatMap((row): Skipped[] => {
      const why = one.whyNot?.(row);
      return why === undefined ? [] : [{ name: of.what([row]), why }];
    });
    decisions.decide({
      kind: kindIn(membershipId, of.kind),
      keys: rows.filter((row) => one.whyNot?.(row) === undefined).map(of.keyOf),
      what: (keys) => of.what(rowsOf(keys)),
      verb: one.verb,
      button: one.button,
      skipped,
      onBack,
      send: async (keys, way) => {
        const sent = await sendRows(of, rowsOf(keys), one.to, way);
        await readAgain();
        return sent;
      },
    });
  };
}

/** Two workspaces of one page share no rows. */
export function kindIn(membershipId: number, kind: string): string {
  return `${membershipId} ${kind}`;
}
