import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { formatCount } from "../../format/figure.ts";
import { useMembership } from "../../member/membership.ts";
import { useDecide } from "../../records/bulk.ts";
import type { ChosenRows } from "../../records/record-list.tsx";
import { partsOf, type SkippedRow } from "../../records/send-rows.ts";

/** As many as one request may change. */
const IDS_MAX = 200;

type Partner = { readonly id: number; readonly name: string; readonly status: string };
type Status = "active" | "rejected" | "blocked";

const VERBS = { active: "approved", rejected: "rejected", blocked: "blocked" } as const;

/** Approves, rejects or blocks partners, in as many requests as it takes. */
export function StatusActions({
  rows,
  chosen,
}: {
  readonly rows: readonly Partner[];
  readonly chosen: ChosenRows;
}): ReactElement {
  const { api } = useMembership();
  const decide = useDecide<Partner, Status>({
    kind: "partners",
    keyOf: ({ id }) => String(id),
    what: partnersInWords,
    names: ["affiliates", "affiliate"],
    size: IDS_MAX,
    findChanged: async (shown) => {
      const changed: SkippedRow[] = [];
      for (const part of partsOf(shown, IDS_MAX)) {
        const query = { ids: part.map(({ id }) => id), limit: IDS_MAX };
        const { data } = await read(api.GET("/affiliates", { params: { query } }));
        const now = new Map(data.map((row) => [row.id, row]));
        changed.push(...part.flatMap((row) => changeOf(row, now.get(row.id))));
      }
      return changed;
    },
    send: async (part, status, isLeaving) => {
      const body = { ids: part.map(({ id }) => id), status };
      const { data } = await read(api.PATCH("/affiliates", { body, keepalive: isLeaving }));
      const gone = new Set(data.not_found);
      return part.filter(({ id }) => gone.has(id)).map((row) => skip(row, "is no longer there"));
    },
  });
  const button = (status: Status, label: string, look: string): Record<string, unknown> => ({
    type: "button",
    className: look,
    children: label,
    onClick: () => {
      const whyNot = (row: Partner): string | undefined =>
        row.status === status ? `already ${VERBS[status]}` : undefined;
      decide(rows, { to: status, verb: VERBS[status], button: label, whyNot }, chosen.onBack);
      chosen.onDecided();
    },
  });
  const isOffered = (status: Status): boolean => rows.some((row) => row.status !== status);
  return (
    <>
      {isOffered("active") && (
        <button {...button("active", "Approve", "button first")} data-key="approve" />
      )}
      {isOffered("rejected") && (
        <button {...button("rejected", "Reject", "button")} data-key="reject" />
      )}
      {isOffered("blocked") && <button {...button("blocked", "Block", "button danger")} />}
    </>
  );
}

function skip({ id, name }: Partner, why: string): SkippedRow {
  return { key: String(id), name, why };
}

/** What a colleague has decided in the meantime. */
function changeOf(row: Partner, now: Partner | undefined): SkippedRow[] {
  if (now === undefined) return [skip(row, "is no longer there")];
  if (now.status === row.status) return [];
  return [skip(row, `was changed meanwhile: the status is ${now.status} now`)];
}

function partnersInWords(rows: readonly Partner[]): string {
  const [first, ...others] = rows;
  if (first === undefined) return "No partner";
  return others.length === 0 ? first.name : `${formatCount(rows.length)} partners`;
}
