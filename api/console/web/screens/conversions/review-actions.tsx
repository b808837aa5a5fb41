import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import { type Decided, Decision } from "../../parts/decision.tsx";
import { type BulkReport, type Skipped, useBulk } from "../../records/bulk.ts";
import { BulkProgress } from "../../records/bulk-parts.tsx";

/** As many as one request may change. */
const IDS_MAX = 500;

const NAMES = ["conversions", "conversion", "conversion-history", "attention"];

type Reviewed = { readonly id: string; readonly is_duplicate?: boolean };
type Review = { readonly status: Decided; readonly reason: string };

/** Approves or rejects conversions, in as many requests as it takes. */
export function ReviewActions({
  rows,
  onDone,
}: {
  readonly rows: readonly Reviewed[];
  readonly onDone: (report: BulkReport) => void;
}): ReactElement {
  const { api } = useMembership();
  const bulk = useBulk<Reviewed, Review>({
    rows,
    names: NAMES,
    size: IDS_MAX,
    onDone,
    send: async (part, { status, reason }) => {
      const ids = part.map(({ id }) => id);
      const body = { ids, status, ...(reason === "" ? {} : { reason }) };
      const { data } = await read(api.PATCH("/conversions", { body }));
      const changed = new Set(data.updated.map(({ id }) => id));
      const gone = new Set(data.not_found);
      return part
        .filter(({ id }) => !changed.has(id))
        .map((row): Skipped => ({ name: row.id, why: whySkipped(row, gone) }));
    },
  });
  return (
    <>
      <Decision
        label="Reason"
        isSending={bulk.isSending}
        error={null}
        onDecide={(status, reason) => bulk.start({ status, reason })}
      />
      <BulkProgress bulk={bulk} count={rows.length} />
    </>
  );
}

function whySkipped(
  { id, is_duplicate: isDuplicate }: Reviewed,
  gone: ReadonlySet<string>,
): string {
  if (gone.has(id)) return "is no longer there";
  return isDuplicate === true ? "is a duplicate, which can only be rejected" : "was so already";
}
