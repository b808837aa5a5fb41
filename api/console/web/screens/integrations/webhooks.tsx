import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { mayDo, useMembership } from "../../member/membership.ts";
import { GuideLink } from "../../parts/guide-link.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { RecordResource } from "../../records/record-resource.ts";
import { RecordScreen } from "../../records/record-screen.tsx";
import { Deliveries } from "./deliveries.tsx";
import { WebhookSecret } from "./webhook-secret.tsx";

type Webhook = components["schemas"]["Webhook"];

/** Complete by its type: an event that the API adds does not compile until it is here. */
const EVENTS: Readonly<Record<Webhook["events"][number], true>> = {
  "conversion.created": true,
  "conversion.updated": true,
  "offer.created": true,
  "offer.updated": true,
  "affiliate.signup": true,
  "affiliate.updated": true,
  "access.requested": true,
  "access.decided": true,
  "invoice.created": true,
  "invoice.paid": true,
  "statement.created": true,
  "statement.approved": true,
  "affiliate.payment_method_changed": true,
  "payout.paid": true,
  "payout.failed": true,
};

const WEBHOOKS: RecordResource<Webhook> = {
  title: "Webhooks",
  noun: "webhook",
  about: "Send workspace events to your server.",
  name: "webhooks",
  titleOf: ({ name }) => name,
  columns: [
    { name: "name", title: "Name", opens: true, cell: (row) => <StrangerText text={row.name} /> },
    {
      name: "status",
      title: "Status",
      cell: ({ active }) => <StatusBadge status={active ? "active" : "paused"} />,
    },
    { name: "url", title: "Address", cell: ({ url }) => <StrangerText text={url} /> },
    { name: "events", title: "Events", cell: ({ events }) => events.join(", ") },
  ],
  fields: [
    { name: "name", label: "Name", required: true },
    { name: "url", label: "Address", required: true, hint: "Of your server" },
    {
      name: "events",
      label: "Events",
      kind: "many",
      choices: Object.keys(EVENTS).map((name) => [name, name] as const),
    },
    { name: "active", label: "Active", kind: "flag" },
  ],
  initial: { active: true },
  permission: "webhooks.manage",
  list: async (api, query, signal) =>
    await read(api.GET("/webhooks", { params: { query: fromAddress(query) }, signal })),
  get: async (api, id, signal) =>
    (await read(api.GET("/webhooks/{id}", { params: { path: { id } }, signal }))).data,
  create: async (api, body) =>
    (await read(api.POST("/webhooks", { body: { name: "", url: "", events: [], ...body } }))).data,
  update: async (api, id, body) =>
    await read(api.PATCH("/webhooks/{id}", { params: { path: { id } }, body })),
  remove: async (api, id) => await read(api.DELETE("/webhooks/{id}", { params: { path: { id } } })),
  more: (webhook) => <WebhookParts webhook={webhook} />,
};

/** Send workspace events to your server. */
export function Webhooks(): ReactElement {
  return (
    <>
      <div className="row wrap">
        <h1 className="grow">Webhooks</h1>
        <GuideLink href="/docs/webhooks">About webhooks</GuideLink>
      </div>
      <RecordScreen resource={WEBHOOKS} isTitled={false} />
    </>
  );
}

function WebhookParts({ webhook }: { readonly webhook: Webhook }): ReactElement {
  const membership = useMembership();
  const mayWrite = membership.role === "admin" && mayDo(membership, WEBHOOKS.permission);
  return (
    <>
      {webhook.disabled_reason !== undefined && (
        <p className="notice warn">Switched off because {webhook.disabled_reason}</p>
      )}
      {mayWrite && <WebhookSecret webhook={webhook} />}
      <Deliveries kind="webhooks" id={webhook.id} mayRetry={mayWrite} />
    </>
  );
}
