import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { affiliateIdChoices, offerIdChoices } from "../../client/choices.ts";
import { fromAddress } from "../../client/lists.ts";
import { InstantText } from "../../parts/instant-text.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { FormField } from "../../records/form-field.ts";
import { RecordName } from "../../records/record-name.tsx";
import type { RecordResource } from "../../records/record-resource.ts";
import { RecordScreen } from "../../records/record-screen.tsx";

type Coupon = components["schemas"]["Coupon"];

const STATUS: FormField = {
  name: "status",
  label: "Status",
  choices: [
    ["active", "Active"],
    ["inactive", "Inactive"],
  ],
};

const COUPONS: RecordResource<Coupon> = {
  title: "Coupons",
  noun: "coupon",
  about: "A coupon code credits a partner with a sale that has no click.",
  name: "coupons",
  titleOf: ({ code }) => code,
  columns: [
    { name: "code", title: "Code", opens: true, cell: ({ code }) => <StrangerText text={code} /> },
    { name: "status", title: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
    {
      name: "partner",
      title: "Partner",
      cell: (row) => <RecordName of={affiliateIdChoices} id={row.affiliate_id} />,
    },
    {
      name: "offer",
      title: "Offer",
      cell: (row) =>
        row.offer_id === null ? (
          "Every offer"
        ) : (
          <RecordName of={offerIdChoices} id={row.offer_id} />
        ),
    },
    { name: "starts", title: "Starts", cell: (row) => <InstantText iso={row.starts_at} /> },
    { name: "ends", title: "Ends", cell: (row) => <InstantText iso={row.ends_at} /> },
  ],
  filters: [
    { name: "code", label: "Code" },
    { name: "status", label: "Status", choices: STATUS.choices },
    { name: "offer_id", label: "Offer", load: offerIdChoices },
    { name: "affiliate_id", label: "Partner", load: affiliateIdChoices },
  ],
  fields: [
    { name: "code", label: "Code", required: true },
    { name: "affiliate_id", label: "Partner", kind: "record", load: affiliateIdChoices },
    { name: "offer_id", label: "Offer", kind: "record", load: offerIdChoices, isNullable: true },
    STATUS,
    { name: "starts_at", label: "Starts (UTC)", kind: "time" },
    { name: "ends_at", label: "Ends (UTC)", kind: "time" },
  ],
  initial: { status: "active" },
  permission: "conversions.write",
  list: async (api, query, signal) =>
    await read(api.GET("/coupons", { params: { query: fromAddress(query) }, signal })),
  get: async (api, id, signal) =>
    (await read(api.GET("/coupons/{id}", { params: { path: { id } }, signal }))).data,
  create: async (api, body) =>
    (await read(api.POST("/coupons", { body: { code: "", affiliate_id: 0, ...body } }))).data,
  update: async (api, id, body) =>
    await read(api.PATCH("/coupons/{id}", { params: { path: { id } }, body })),
  remove: async (api, id) => await read(api.DELETE("/coupons/{id}", { params: { path: { id } } })),
  states: { on: "active", off: "inactive" },
};

export function Coupons(): ReactElement {
  return <RecordScreen resource={COUPONS} />;
}
