import type { ReactElement } from "react";
import type { components } from "../../../../.build/console/openapi.ts";
import { read } from "../client/api-client.ts";
import { fromAddress } from "../client/lists.ts";
import { formatInstant } from "../format/time.ts";
import { useMembership } from "../member/membership.ts";
import type { Column } from "../parts/data-table.tsx";
import { StrangerText } from "../parts/stranger-text.tsx";
import { RecordList } from "../records/record-list.tsx";
import { isAbout } from "./about-record.ts";

type Entry = components["schemas"]["AuditLogEntry"];

/** Who changed a record. The audit log names it by its address in the API. */
export function RecordHistory({
  path,
}: {
  /** Such as `/offers/7`. */
  readonly path: string;
}): ReactElement {
  const { api, zone } = useMembership();
  const columns: readonly Column<Entry>[] = [
    { name: "at", title: "Time", cell: ({ ts }) => formatInstant(ts, zone) },
    { name: "user", title: "Who", cell: ({ user }) => <StrangerText text={user} /> },
    { name: "action", title: "Action", cell: ({ action }) => <code>{action}</code> },
    { name: "status", title: "HTTP", isNumber: true, cell: ({ status }) => status },
  ];
  return (
    <>
      <RecordList<Entry>
        title="History"
        name="record-history"
        fixed={{ preset: "last90", action: path }}
        load={async (query, signal) => {
          const params = { query: fromAddress(query) };
          const page = await read(api.GET("/audit-log", { params, signal }));
          // The log finds /offers/7 in /offers/71, too.
          return { ...page, data: page.data.filter(({ action }) => isAbout(action, path)) };
        }}
        columns={columns}
        keyOf={({ id }) => String(id)}
        nothing={<strong>No changes by its ID in the last 90 days</strong>}
      />
      <p className="muted">
        Changes of the last 90 days that name this record by its ID, also refused ones. Imports,
        changes of many records at once, and programs that use codes are in the audit log.
      </p>
    </>
  );
}
