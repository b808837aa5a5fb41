import { Plus } from "lucide-react";
import { type ReactElement, useState } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { formatDay } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { hasRight } from "../../member/rights.ts";
import { useWrite } from "../../member/use-write.ts";
import type { Column } from "../../parts/data-table.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { InstantText } from "../../parts/instant-text.tsx";
import type { FormField, RecordBody } from "../../records/form-field.ts";
import { currencyChoices } from "../../records/known-choices.ts";
import { NestedForm } from "../../records/nested-form.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { asRates } from "./rate-rows.ts";

type FxRate = components["schemas"]["FxRate"];
type FxFeed = components["schemas"]["FxFeed"];

const FIELDS: readonly FormField[] = [
  {
    name: "rows",
    label: "Rates",
    kind: "rows",
    hint: "Units of the currency for one euro. A rate holds for its day and the seven days after it.",
    row: { noun: "Rate", initial: {} },
    fields: [
      { name: "date", label: "Day", kind: "day" },
      { name: "currency", label: "Currency", load: currencyChoices },
      { name: "rate", label: "Rate", hint: "Such as 1.0842" },
    ],
  },
];

const COLUMNS: readonly Column<FxRate>[] = [
  { name: "date", title: "Day", cell: ({ date }) => formatDay(date) },
  { name: "currency", title: "Currency", cell: ({ currency }) => currency },
  { name: "rate", title: "For one euro", isNumber: true, cell: ({ rate }) => rate },
  {
    name: "scope",
    title: "Owner",
    cell: ({ scope }) =>
      scope === "workspace" ? <span className="badge good">This workspace</span> : "Installation",
  },
  { name: "updated", title: "Set", cell: (row) => <InstantText iso={row.updated_at} /> },
];

function feedText({ state, source, newest_day: day, error }: FxFeed): string {
  switch (state) {
    case "ok":
      return `The daily rates of ${source} are read; their newest day is ${day ?? "unknown"}.`;
    case "failed":
      return `The daily rates of ${source} cannot be read (${error}): set rates here, or ask the operator. Reports in a currency without a rate are answered 503 and must be sent again.`;
    case "off":
      return "The daily feed is off: only rates that are set are used.";
    case "unread":
      return "The daily feed has not been read yet.";
  }
}

/** Rates by which amounts are converted. A rate of the workspace comes before the installation's. */
export function FxRates(): ReactElement {
  const membership = useMembership();
  const { api, role } = membership;
  const [isNew, setNew] = useState(false);
  const [feed, setFeed] = useState<FxFeed>();
  const save = useWrite(["fx-rates"], async ({ rows = [] }: RecordBody) => {
    await read(api.POST("/fx-rates", { body: { rows: asRates(rows) } }));
    setNew(false);
  });
  return (
    <>
      <p className="muted">
        Amounts in other currencies are converted by the rate of their day. A rate of this workspace
        takes precedence over the installation's. {feed !== undefined && feedText(feed)}
      </p>
      <RecordList<FxRate>
        title="Reference rates"
        name="fx-rates"
        filters={[{ name: "currency", label: "Currency", load: currencyChoices }]}
        load={async (query, signal) => {
          const params = { query: fromAddress(query) };
          const page = await read(api.GET("/fx-rates", { params, signal }));
          setFeed(page.feed);
          return page;
        }}
        columns={COLUMNS}
        keyOf={({ date, currency, scope }) => `${date} ${currency} ${scope}`}
        nothing={<strong>No rates yet</strong>}
        actions={
          role === "admin" &&
          hasRight(membership, "everything") && (
            <button type="button" className="button first" onClick={() => setNew(true)}>
              <Plus size={14} aria-hidden /> Set rates
            </button>
          )
        }
      />
      {isNew && (
        <Drawer title="Set rates of this workspace" onClose={() => setNew(false)}>
          <NestedForm
            fields={FIELDS}
            initial={{ rows: [{}] }}
            submit="Save the rates"
            onSubmit={save.mutateAsync}
          />
        </Drawer>
      )}
    </>
  );
}
