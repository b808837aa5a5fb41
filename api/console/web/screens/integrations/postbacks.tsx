import { Plus } from "lucide-react";
import { type ReactElement, useState } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import {
  PARTNER_POSTBACK_MACROS,
  STAFF_POSTBACK_MACROS,
} from "../../../../../schemas/macros/macro-names.ts";
import { useAddress } from "../../address/use-address.ts";
import { read } from "../../client/api-client.ts";
import { affiliateIdChoices, offerIdChoices } from "../../client/choices.ts";
import { fromAddress } from "../../client/lists.ts";
import { useRecord } from "../../client/records.ts";
import { FIRINGS, firingWords } from "../../format/value-words.ts";
import { mayDo, useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import type { Column } from "../../parts/data-table.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { Facts } from "../../parts/facts.tsx";
import { GuideLink } from "../../parts/guide-link.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { ListFilter } from "../../records/list-filters.tsx";
import { type FormBody, type FormField, RecordForm } from "../../records/record-form.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { RecordName } from "../../records/record-name.tsx";
import { Deliveries } from "./deliveries.tsx";
import { PostbackTest } from "./postback-test.tsx";
import { TrackerChoice } from "./tracker-choice.tsx";

type Postback = components["schemas"]["Postback"];

const STATUS: FormField = {
  name: "status",
  label: "Status",
  choices: [
    ["active", "Active"],
    ["paused", "Paused"],
  ],
};
/** A postback that a partner made fills in the macros of partners, whoever changes it. */
const fieldsFor = (isPartners: boolean): readonly FormField[] => [
  {
    name: "url",
    label: "Address",
    required: true,
    hint: "Macros such as {click_id}, {payout} and {sub1} are filled in",
    macros: isPartners ? PARTNER_POSTBACK_MACROS : STAFF_POSTBACK_MACROS,
  },
  ...FIELDS,
];
const FIELDS: readonly FormField[] = [
  {
    name: "method",
    label: "Method",
    choices: [
      ["GET", "GET"],
      ["POST", "POST"],
    ],
  },
  {
    name: "fire_on",
    label: "When",
    choices: FIRINGS,
  },
  STATUS,
];
const OFFER: FormField = {
  name: "offer_id",
  label: "Offer",
  kind: "record",
  load: offerIdChoices,
  isNullable: true,
  hint: "None: for every offer, now and later",
};
const PARTNER: FormField = {
  name: "affiliate_id",
  label: "Partner",
  kind: "record",
  load: affiliateIdChoices,
  isNullable: true,
  hint: "None: for every partner",
};
const INITIAL = { method: "GET", fire_on: "approved", status: "active" } as const;

const PARTNER_COLUMN: Column<Postback> = {
  name: "partner",
  title: "Partner",
  cell: (row) =>
    row.affiliate_id === null ? (
      "Every partner"
    ) : (
      <RecordName of={affiliateIdChoices} id={row.affiliate_id} />
    ),
};
const FILTERS: readonly ListFilter[] = [
  {
    name: "status",
    label: "Status",
    choices: [...(STATUS.choices ?? []), ["disabled", "Switched off after failures"]],
  },
  { name: "offer_id", label: "Offer", load: offerIdChoices },
];
const OF_STAFF: readonly ListFilter[] = [
  { name: "affiliate_id", label: "Partner", load: affiliateIdChoices },
];

/** What is sent to partners about their conversions. */
export function Postbacks(): ReactElement {
  const membership = useMembership();
  const { api, role } = membership;
  const [search, change] = useAddress();
  const [isNew, setNew] = useState(false);
  const mayWrite = role !== "analyst" && mayDo(membership, "postbacks.write");
  const columns: readonly Column<Postback>[] = [
    { name: "url", title: "Address", opens: true, cell: ({ url }) => <StrangerText text={url} /> },
    { name: "status", title: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
    { name: "when", title: "When", cell: (row) => firingWords(row.fire_on) },
    { name: "event", title: "Event", cell: (row) => row.event_code ?? "Every event" },
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
    ...(role === "partner" ? [] : [PARTNER_COLUMN]),
  ];
  const open = search.get("open");
  return (
    <>
      <div className="row wrap">
        <h1 className="grow">Postbacks</h1>
        <GuideLink href="/docs/partner-postbacks">About postbacks</GuideLink>
      </div>
      <RecordList<Postback>
        title="Postbacks"
        isTitled={false}
        name="postbacks"
        filters={role === "partner" ? FILTERS : [...FILTERS, ...OF_STAFF]}
        load={async (query, signal) =>
          await read(api.GET("/postbacks", { params: { query: fromAddress(query) }, signal }))
        }
        columns={columns}
        keyOf={({ id }) => String(id)}
        onOpen={({ id }) => change({ open: String(id) })}
        nothing={
          <>
            <strong>No postbacks yet</strong>
            <p className="muted">A postback notifies a server about each conversion.</p>
          </>
        }
        actions={
          mayWrite && (
            <button type="button" className="button first" onClick={() => setNew(true)}>
              <Plus size={14} aria-hidden /> New postback
            </button>
          )
        }
      />
      {open !== null && (
        <PostbackDrawer
          id={Number(open)}
          mayWrite={mayWrite}
          onClose={() => change({ open: undefined })}
        />
      )}
      {isNew && (
        <NewPostback
          onClose={() => setNew(false)}
          onMade={(id) => {
            setNew(false);
            change({ open: String(id) });
          }}
        />
      )}
    </>
  );
}

function NewPostback({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (id: number) => void;
}): ReactElement {
  const { api, role } = useMembership();
  const create = useWrite(
    ["postbacks"],
    async ({ url = "", offer_id: offer, ...more }: FormBody) => {
      const offerId = offer === undefined || offer === "" ? null : Number(offer);
      const body = { ...INITIAL, ...more, offer_id: offerId, url: String(url) };
      onMade((await read(api.POST("/postbacks", { body }))).data.id);
    },
  );
  return (
    <Drawer title="New postback" onClose={onClose}>
      {role === "partner" && <TrackerChoice />}
      <RecordForm
        fields={
          role === "partner" ? [OFFER, ...fieldsFor(true)] : [OFFER, PARTNER, ...fieldsFor(false)]
        }
        initial={INITIAL}
        submit="Create the postback"
        onSubmit={create.mutateAsync}
      />
    </Drawer>
  );
}

function PostbackDrawer({
  id,
  mayWrite,
  onClose,
}: {
  readonly id: number;
  readonly mayWrite: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const membership = useMembership();
  const { api } = membership;
  const params = { path: { id } };
  const record = useRecord(membership, {
    name: "postback",
    id,
    load: async (signal) => (await read(api.GET("/postbacks/{id}", { params, signal }))).data,
  });
  const save = useWrite(["postbacks", "postback", "attention"], async (body: FormBody) => {
    await read(api.PATCH("/postbacks/{id}", { params, body }));
  });
  const postback = record.data;
  return (
    <Drawer title="Postback" onClose={onClose}>
      {record.isError && <ProblemNotice error={record.error} />}
      {postback?.disabled_reason !== undefined && postback.disabled_reason !== "" && (
        <Facts facts={[["Switched off because", postback.disabled_reason]]} />
      )}
      {postback !== undefined && mayWrite && (
        <RecordForm
          key={postback.updated_at}
          fields={fieldsFor(postback.created_by_affiliate)}
          initial={postback}
          submit="Save"
          onSubmit={async (body) => await save.mutateAsync(body)}
        />
      )}
      {postback?.kind === "s2s" && mayWrite && <PostbackTest id={id} />}
      <Deliveries kind="postbacks" id={id} mayRetry={mayWrite} />
    </Drawer>
  );
}
