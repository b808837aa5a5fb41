import { Plus } from "lucide-react";
import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { useAddress } from "../../address/use-address.ts";
import { useIsNew } from "../../address/use-is-new.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { useRecord } from "../../client/records.ts";
import { ImportButton } from "../../imports/import-button.tsx";
import { mayDo, useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { Facts } from "../../parts/facts.tsx";
import { linkOrNothing } from "../../parts/safe-link.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { countryChoices } from "../../records/known-choices.ts";
import type { ListFilter } from "../../records/list-filters.tsx";
import { RecordDrawer } from "../../records/record-drawer.tsx";
import { type FormBody, type FormField, RecordForm } from "../../records/record-form.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { courseColumn } from "../charts/course-cell.tsx";
import { figureColumns } from "../charts/figure-columns.tsx";
import { RankingLink } from "../charts/ranking-link.tsx";
import { RecordFigures } from "../charts/record-figures.tsx";
import { CapMeters } from "../offers/cap-meters.tsx";
import { BudgetSection } from "./budget-section.tsx";

type Advertiser = components["schemas"]["Advertiser"];

const STATUS: FormField = {
  name: "status",
  label: "Status",
  choices: [
    ["active", "Active"],
    ["paused", "Paused"],
    ["inactive", "Inactive"],
  ],
};
const FIELDS: readonly FormField[] = [
  { name: "name", label: "Name", required: true },
  STATUS,
  { name: "email", label: "E-mail" },
  { name: "company", label: "Company" },
  { name: "contact_name", label: "Contact" },
  { name: "phone", label: "Phone" },
  { name: "website", label: "Website" },
  { name: "country", label: "Country", load: countryChoices },
  { name: "tags", label: "Tags", kind: "list", hint: "Separate with commas" },
  { name: "notes", label: "Internal notes", kind: "area" },
];
const FILTERS: readonly ListFilter[] = [
  { name: "q", label: "Name or e-mail" },
  { name: STATUS.name, label: STATUS.label, choices: STATUS.choices },
];
const COLUMNS: readonly Column<Advertiser>[] = [
  {
    name: "name",
    title: "Advertiser",
    opens: true,
    cell: (row) => <StrangerText text={row.name} />,
  },
  {
    name: "status",
    title: "Status",
    isEarly: true,
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  ...figureColumns<Advertiser>("advertiser", ["conversions", "revenue", "profit"]),
  courseColumn("advertiser"),
  { name: "email", title: "E-mail", cell: ({ email }) => <StrangerText text={email} /> },
  { name: "currency", title: "Currency", cell: ({ currency }) => currency },
  { name: "tags", title: "Tags", cell: ({ tags }) => <StrangerText text={tags.join(", ")} /> },
  { name: "id", title: "ID", isNumber: true, isOptional: true, cell: ({ id }) => id },
];

/** All advertisers. */
export function Advertisers(): ReactElement {
  const membership = useMembership();
  const { api, role } = membership;
  const [search, change] = useAddress();
  const [isNew, setNew] = useIsNew();
  const mayWrite = role === "admin" && mayDo(membership, "advertisers.write");
  const create = useWrite(["advertisers"], async (body: FormBody) => {
    const { data } = await read(
      api.POST("/advertisers", { body: { ...body, name: String(body["name"] ?? "") } }),
    );
    change({ new: undefined, open: String(data.id) });
  });
  const open = search.get("open");
  return (
    <>
      <h1>Advertisers</h1>
      <RecordList<Advertiser>
        title="Advertisers"
        isTitled={false}
        name="advertisers"
        filters={FILTERS}
        load={async (query, signal) =>
          await read(api.GET("/advertisers", { params: { query: fromAddress(query) }, signal }))
        }
        columns={COLUMNS}
        keyOf={({ id }) => String(id)}
        onOpen={({ id }) => change({ open: String(id) })}
        nothing={<strong>No advertisers yet</strong>}
        actions={
          <>
            <RankingLink entity="advertiser" by="revenue" />
            {mayWrite && (
              <>
                <ImportButton kind="advertisers" />
                <button type="button" className="button first" onClick={() => setNew(true)}>
                  <Plus size={14} aria-hidden /> New advertiser
                </button>
              </>
            )}
          </>
        }
      />
      {open !== null && (
        <AdvertiserDrawer
          id={Number(open)}
          mayWrite={mayWrite}
          onClose={() => change({ open: undefined })}
        />
      )}
      {isNew && mayWrite && (
        <Drawer title="New advertiser" onClose={() => setNew(false)}>
          <RecordForm
            fields={FIELDS}
            initial={{ status: "active" }}
            submit="Create the advertiser"
            onSubmit={async (body) => await create.mutateAsync(body)}
          />
        </Drawer>
      )}
    </>
  );
}

function AdvertiserDrawer({
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
    name: "advertiser",
    id,
    load: async (signal) => (await read(api.GET("/advertisers/{id}", { params, signal }))).data,
  });
  const save = useWrite(["advertisers", "advertiser"], async (body: FormBody) => {
    await read(api.PATCH("/advertisers/{id}", { params, body }));
  });
  return (
    <RecordDrawer
      noun="Advertiser"
      record={record}
      fields={FIELDS}
      onSave={mayWrite ? save.mutateAsync : undefined}
      onClose={onClose}
    >
      {(advertiser) => [
        <AdvertiserFacts key="facts" advertiser={advertiser} />,
        <RecordFigures key="figures" entity="advertiser" id={id} />,
        <CapMeters key="caps" query={{ advertiser_id: String(id) }} />,
        <BudgetSection key="budget" id={id} mayWrite={mayWrite} />,
      ]}
    </RecordDrawer>
  );
}

function AdvertiserFacts({ advertiser }: { readonly advertiser: Advertiser }): ReactElement {
  const { postback_token: token } = advertiser;
  return (
    <Facts
      facts={[
        ["ID", String(advertiser.id)],
        ["Status", <StatusBadge key="status" status={advertiser.status} />],
        ["E-mail", advertiser.email],
        ["Company", advertiser.company],
        ["Website", linkOrNothing(advertiser.website)],
        ["Currency", advertiser.currency],
        ["Notes", advertiser.notes],
        [
          "Postback token",
          token === undefined ? (
            ""
          ) : (
            <span key="token" className="row">
              <code>{token}</code>
              <CopyButton label="Copy the token" text={token} />
            </span>
          ),
        ],
      ]}
    />
  );
}
