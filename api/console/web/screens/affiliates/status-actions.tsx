import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import { type BulkReport, useBulk } from "../../records/bulk.ts";
import { BulkProgress } from "../../records/bulk-parts.tsx";

/** As many as one request may change. */
const IDS_MAX = 200;

type Partner = { readonly id: number; readonly name: string };
type Status = "active" | "rejected" | "blocked";

/** Approves, rejects or blocks partners, in as many requests as it takes. */
export function StatusActions({
  rows,
  onDone,
}: {
  readonly rows: readonly Partner[];
  readonly onDone: (report: BulkReport) => void;
}): ReactElement {
  const { api } = useMembership();
  const bulk = useBulk<Partner, Status>({
    rows,
    names: ["affiliates", "affiliate", "attention"],
    size: IDS_MAX,
    onDone,
    send: async (part, status) => {
      const body = { ids: part.map(({ id }) => id), status };
      const { data } = await read(api.PATCH("/affiliates", { body }));
      const gone = new Set(data.not_found);
      return part
        .filter(({ id }) => gone.has(id))
        .map(({ name }) => ({ name, why: "is no longer there" }));
    },
  });
  const button = (status: Status, look: string): Record<string, unknown> => ({
    type: "button",
    className: look,
    disabled: bulk.isSending,
    onClick: () => bulk.start(status),
  });
  return (
    <>
      <button {...button("active", "button first")} data-key="approve">
        Approve
      </button>
      <button {...button("rejected", "button")} data-key="reject">
        Reject
      </button>
      <button {...button("blocked", "button danger")}>Block</button>
      <BulkProgress bulk={bulk} count={rows.length} />
    </>
  );
}
