import { type ReactElement, useState } from "react";
import { useRecord } from "../../client/records.ts";
import { formatDay } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { RecordPage, useRecordId } from "../../records/record-page.tsx";
import { ApproveQuestion } from "./approve-chosen.tsx";
import { getStatement, isOwn, listOf, periodText, type StatementWithLines } from "./statement.ts";
import { StatementFigures } from "./statement-figures.tsx";
import { StatementFiles } from "./statement-files.tsx";
import { VoidStatement } from "./void-statement.tsx";

type Named = StatementWithLines & { readonly name: string };

/** One statement: figures, lines with what is behind each, and documents. */
export function StatementPage(): ReactElement {
  const membership = useMembership();
  const id = useRecordId();
  const record = useRecord(membership, {
    name: "statement",
    id,
    load: async (signal): Promise<Named> => {
      const row = await getStatement(membership, id, signal);
      const label = row.number ?? periodText(row);
      return { ...row, name: isOwn(membership) ? label : `${row.affiliate_name}, ${label}` };
    },
  });
  return (
    <RecordPage<Named>
      list={listOf(membership)}
      noun="Statement"
      record={record}
      head={(row) => <Head row={row} />}
      tabs={(row) => [
        { name: "figures", title: "Figures", content: <StatementFigures statement={row} /> },
      ]}
    />
  );
}

function Head({ row }: { readonly row: Named }): ReactElement {
  const membership = useMembership();
  const [isAsking, setAsking] = useState(false);
  const mayWrite = membership.role === "admin";
  return (
    <>
      <StatusBadge status={row.status} />
      <span>{periodText(row)}</span>
      <span className="muted">Due {formatDay(row.due_on)}</span>
      <span className="grow" />
      {row.number !== null && <StatementFiles id={row.id} number={row.number} />}
      {mayWrite && row.status === "draft" && (
        <button type="button" className="button first" onClick={() => setAsking(true)}>
          Approve
        </button>
      )}
      {mayWrite && (row.status === "draft" || row.status === "carried") && (
        <VoidStatement id={row.id} />
      )}
      {isAsking && (
        <ApproveQuestion drafts={[row]} onDone={() => undefined} onClose={() => setAsking(false)} />
      )}
    </>
  );
}
