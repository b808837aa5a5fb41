import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { affiliateIdChoices, offerIdChoices } from "../../client/choices.ts";
import { fromAddress } from "../../client/lists.ts";
import { InstantText } from "../../parts/instant-text.tsx";
import { RecordLink } from "../../records/record-link.tsx";
import { RecordName } from "../../records/record-name.tsx";
import type { RecordResource } from "../../records/record-resource.ts";
import { RecordScreen } from "../../records/record-screen.tsx";

type LinkKey = components["schemas"]["LinkKey"];

const LINK_KEYS: RecordResource<LinkKey> = {
  title: "Link keys",
  noun: "link key",
  about: "A key of one's own in the address of a link: /c/ and the key.",
  name: "link-keys",
  titleOf: ({ key }) => key,
  columns: [
    { name: "key", title: "Key", opens: true, cell: ({ key }) => <code>{key}</code> },
    {
      name: "offer",
      title: "Offer",
      cell: ({ offer_id: id }) => (
        <RecordLink path="/offers" id={id}>
          <RecordName of={offerIdChoices} id={id} />
        </RecordLink>
      ),
    },
    {
      name: "partner",
      title: "Partner",
      cell: ({ affiliate_id: id }) => (
        <RecordLink path="/partners" id={id}>
          <RecordName of={affiliateIdChoices} id={id} />
        </RecordLink>
      ),
    },
    { name: "since", title: "Since", cell: (row) => <InstantText iso={row.created_at} /> },
  ],
  filters: [
    { name: "key", label: "Key" },
    { name: "offer_id", label: "Offer", load: offerIdChoices },
    { name: "affiliate_id", label: "Partner", load: affiliateIdChoices },
  ],
  fields: [
    { name: "key", label: "Key", hint: "4 to 64 letters, digits or _; made for you if empty" },
    { name: "offer_id", label: "Offer", kind: "record", load: offerIdChoices },
    { name: "affiliate_id", label: "Partner", kind: "record", load: affiliateIdChoices },
  ],
  permission: "offers.write",
  list: async (api, query, signal) =>
    await read(api.GET("/link-keys", { params: { query: fromAddress(query) }, signal })),
  get: async (api, id, signal) =>
    (await read(api.GET("/link-keys/{id}", { params: { path: { id } }, signal }))).data,
  create: async (api, body) =>
    (await read(api.POST("/link-keys", { body: { offer_id: 0, affiliate_id: 0, ...body } }))).data,
  remove: async (api, id) =>
    await read(api.DELETE("/link-keys/{id}", { params: { path: { id } } })),
};

/** Of all partners, or of one partner. */
export function LinkKeys({ partner }: { readonly partner?: number }): ReactElement {
  return (
    <RecordScreen
      resource={LINK_KEYS}
      {...(partner === undefined ? {} : { fixed: { affiliate_id: partner } })}
    />
  );
}
