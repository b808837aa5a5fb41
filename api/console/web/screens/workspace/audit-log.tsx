import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { useAddress } from "../../address/use-address.ts";
import { read } from "../../client/api-client.ts";
import { advertiserChoices, affiliateIdChoices, offerIdChoices } from "../../client/choices.ts";
import { fromAddress } from "../../client/lists.ts";
import { formatInstant } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RangeBar } from "../../range/range-bar.tsx";
import { RecordLink } from "../../records/record-link.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { RecordName } from "../../records/record-name.tsx";
import { rangeQuery } from "../../records/record-range.ts";
import { auditWords } from "./audit-words.ts";

type Entry = components["schemas"]["AuditLogEntry"];

const RECORDS = {
  offer: { of: offerIdChoices, path: "/offers" },
  partner: { of: affiliateIdChoices, path: "/partners" },
  advertiser: { of: advertiserChoices, path: "/advertisers" },
} as const;

/** Who changed what. */
export function AuditLog(): ReactElement {
  const { api, zone } = useMembership();
  const [search] = useAddress();
  const columns: readonly Column<Entry>[] = [
    { name: "at", title: "Time", cell: ({ ts }) => formatInstant(ts, zone) },
    { name: "user", title: "Who", cell: ({ user }) => <StrangerText text={user} /> },
    { name: "action", title: "Action", cell: ({ action }) => <Action action={action} /> },
    { name: "status", title: "Result", cell: ({ status }) => <Result status={status} /> },
    { name: "ip", title: "Address", cell: ({ ip }) => ip },
  ];
  return (
    <>
      <div className="row wrap">
        <h1 className="grow">Audit log</h1>
        <RangeBar />
      </div>
      <RecordList<Entry>
        title="Audit log"
        isTitled={false}
        name="audit-log"
        filters={[{ name: "action", label: "Request contains" }]}
        fixed={rangeQuery(search)}
        load={async (query, signal) =>
          await read(api.GET("/audit-log", { params: { query: fromAddress(query) }, signal }))
        }
        columns={columns}
        keyOf={({ id }) => String(id)}
        nothing={<strong>Nothing in this range</strong>}
      />
    </>
  );
}

/** What was to be done in words, with the record, and the request as it came. */
function Action({ action }: { readonly action: string }): ReactElement {
  const { words, raw, record } = auditWords(action);
  return (
    <>
      <StrangerText text={words} />
      {record !== undefined && (
        <>
          {": "}
          <RecordLink path={RECORDS[record.kind].path} id={record.id}>
            <RecordName of={RECORDS[record.kind].of} id={record.id} />
          </RecordLink>
        </>
      )}
      {raw !== "" && (
        <span className="muted second-line">
          <StrangerText text={raw} />
        </span>
      )}
    </>
  );
}

function Result({ status }: { readonly status: number }): ReactElement {
  const word = status < 400 ? "done" : status < 500 ? "refused" : "failed";
  return (
    <span title={`HTTP ${status}`}>
      <StatusBadge status={word} />
    </span>
  );
}
