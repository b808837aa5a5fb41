import { Plus } from "lucide-react";
import { type ReactElement, useState } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { useAddress } from "../../address/use-address.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { useWrite } from "../../client/use-write.ts";
import type { Column } from "../../parts/data-table.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { type FormBody, type FormField, RecordForm } from "../../records/record-form.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { mayDo, useMembership } from "../../session/membership.ts";
import { Deliveries } from "./deliveries.tsx";

type Webhook = components["schemas"]["Webhook"];

type Event = Webhook["events"][number];
const EVENTS: readonly Event[] = [
  "conversion.created",
  "conversion.updated",
  "offer.created",
  "offer.updated",
  "affiliate.signup",
  "affiliate.updated",
  "access.requested",
  "access.decided",
];

const FIELDS: readonly FormField[] = [
  { name: "name", label: "Name", required: true },
  { name: "url", label: "Address", required: true, hint: "Of your server" },
  {
    name: "events",
    label: "Events",
    kind: "many",
    choices: EVENTS.map((name) => [name, name] as const),
  },
];

/** Events of the workspace, sent to servers of its own. */
export function Webhooks(): ReactElement {
  const membership = useMembership();
  const { api, role } = membership;
  const [search, change] = useAddress();
  const [isNew, setNew] = useState(false);
  const mayWrite = role === "admin" && mayDo(membership, "webhooks.manage");
  const create = useWrite(["webhooks"], async (body: FormBody) => {
    const { name = "", url = "", events = [] } = body;
    await read(
      api.POST("/webhooks", {
        body: { name: String(name), url: String(url), events: eventsOf(events) },
      }),
    );
    setNew(false);
  });
  const columns: readonly Column<Webhook>[] = [
    { name: "name", title: "Name", opens: true, cell: (row) => <StrangerText text={row.name} /> },
    {
      name: "status",
      title: "Status",
      cell: ({ active }) => <StatusBadge status={active ? "active" : "paused"} />,
    },
    { name: "url", title: "Address", cell: ({ url }) => <StrangerText text={url} /> },
    { name: "events", title: "Events", cell: ({ events }) => events.join(", ") },
  ];
  const open = search.get("open");
  return (
    <>
      <h1>Webhooks</h1>
      <RecordList<Webhook>
        title="Webhooks"
        name="webhooks"
        load={async (query, signal) =>
          await read(api.GET("/webhooks", { params: { query: fromAddress(query) }, signal }))
        }
        columns={columns}
        keyOf={({ id }) => String(id)}
        onOpen={({ id }) => change({ open: String(id) })}
        nothing={<strong>No webhooks yet</strong>}
        actions={
          mayWrite && (
            <button type="button" className="button first" onClick={() => setNew(true)}>
              <Plus size={14} aria-hidden /> New webhook
            </button>
          )
        }
      />
      {open !== null && (
        <Drawer title="Webhook" onClose={() => change({ open: undefined })}>
          <Deliveries kind="webhooks" id={Number(open)} mayRetry={mayWrite} />
        </Drawer>
      )}
      {isNew && (
        <Drawer title="New webhook" onClose={() => setNew(false)}>
          <RecordForm
            fields={FIELDS}
            submit="Create the webhook"
            onSubmit={async (body) => await create.mutateAsync(body)}
          />
        </Drawer>
      )}
    </>
  );
}

function eventsOf(names: FormBody[string]): Event[] {
  return EVENTS.filter((name) => Array.isArray(names) && names.includes(name));
}
