import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useRoleFigures } from "../../figures/role-figures.ts";
import { formatCount } from "../../format/figure.ts";
import { useMembership } from "../../member/membership.ts";
import { type Answer, Decision } from "../../parts/decision.tsx";
import { useDecide } from "../../records/bulk.ts";
import type { ChosenRows } from "../../records/record-list.tsx";
import type { SkippedRow } from "../../records/send-rows.ts";
import type { Conversion } from "./conversion.ts";
import { findChanged } from "./find-changed.ts";

/** As many as one request may change. */
const IDS_MAX = 500;

const NAMES = ["conversions", "conversion", "conversion-history", "conversion-deliveries"];

type Review = { readonly status: Answer; readonly reason: string };

/** The kind of decisions about conversions. */
export const CONVERSIONS = "conversions";

/** Approves or rejects conversions, in as many requests as it takes. */
export function ReviewActions({
  rows,
  chosen,
}: {
  readonly rows: readonly Conversion[];
  readonly chosen: ChosenRows;
}): ReactElement {
  const { api } = useMembership();
  const { amounts } = useRoleFigures();
  const decide = useDecide<Conversion, Review>({
    kind: CONVERSIONS,
    keyOf: ({ id }) => id,
    what: conversionsInWords,
    names: NAMES,
    size: IDS_MAX,
    findChanged: async (shown) => await findChanged(api, shown, amounts),
    send: async (part, { status, reason }, isLeaving) => {
      const ids = part.map(({ id }) => id);
      const body = { ids, status, ...(reason === "" ? {} : { reason }) };
      const { data } = await read(api.PATCH("/conversions", { body, keepalive: isLeaving }));
      const changed = new Set(data.updated.map(({ id }) => id));
      const gone = new Set(data.not_found);
      return part
        .filter(({ id }) => !changed.has(id))
        .map((row): SkippedRow => ({ key: row.id, name: row.id, why: whySkipped(row, gone) }));
    },
  });
  return (
    <Decision
      label="Reason"
      statuses={rows.map(({ status }) => status)}
      onDecide={(status, reason) => {
        const button = status === "approved" ? "Approve" : "Reject";
        decide(
          rows,
          {
            to: { status, reason },
            verb: status,
            button,
            whyNot: (row) => (row.status === status ? `already ${status}` : undefined),
          },
          chosen.onBack,
        );
        chosen.onDecided();
      }}
    />
  );
}

/** One conversion by its offer, more by their number. */
function conversionsInWords(rows: readonly Conversion[]): string {
  const [first, ...others] = rows;
  if (first === undefined) return "No conversion";
  return others.length === 0
    ? `Conversion of ${first.offer_name}`
    : `${formatCount(rows.length)} conversions`;
}

function whySkipped(
  { id, is_duplicate: isDuplicate }: Conversion,
  gone: ReadonlySet<string>,
): string {
  if (gone.has(id)) return "is no longer there";
  return isDuplicate ? "is a duplicate, which can only be rejected" : "was so already";
}
