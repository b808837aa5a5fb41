import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { useAddress } from "../../address/use-address.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { formatInstant } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RangeBar } from "../../range/range-bar.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { rangeQuery } from "../../records/record-range.ts";

type Entry = components["schemas"]["AuditLogEntry"];

/** Who changed what. */
export function AuditLog(): ReactElement {
  const { api, zone } = useMembership();
  const [search] = useAddress();
  const columns: readonly Column<Entry>[] = [
    { name: "at", title: "Time", cell: ({ ts }) => formatInstant(ts, zone) },
    { name: "user", title: "Who", cell: ({ user }) => <StrangerText text={user} /> },
    { name: "action", title: "Action", cell: ({ action }) => <code>{action}</code> },
    { name: "status", title: "HTTP", isNumber: true, cell: ({ status }) => status },
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
        filters={[{ name: "action", label: "Action contains" }]}
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
