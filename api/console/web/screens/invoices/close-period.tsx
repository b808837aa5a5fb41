import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { advertiserChoices } from "../../client/choices.ts";
import { Problem } from "../../client/problem.ts";
import { formatMoney } from "../../format/money.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite, useWriteOnce } from "../../member/use-write.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RecordChoice } from "../../records/record-choice.tsx";
import { type ClosedInvoice, MONEY_NAMES } from "./invoice.ts";
import { InvoiceStatus } from "./invoice-status.tsx";
import { PeriodText } from "./period-text.tsx";

type Asked = { readonly advertiserId: string; readonly isUntilNow: boolean };

/** Shows what would be invoiced, then makes the drafts. */
export function ClosePeriod({ onClose }: { readonly onClose: () => void }): ReactElement {
  const { api } = useMembership();
  const [asked, setAsked] = useState<Asked>({ advertiserId: "", isUntilNow: false });
  const close = async (isDryRun: boolean) => {
    const { advertiserId, isUntilNow } = asked;
    const body = {
      dry_run: isDryRun,
      ...(advertiserId === "" ? {} : { advertiser_id: Number(advertiserId) }),
      ...(advertiserId !== "" && isUntilNow ? { until: new Date().toISOString() } : {}),
    };
    return (await read(api.POST("/invoices/close", { body }))).data;
  };
  const preview = useWrite([], async () => await close(true));
  const make = useWriteOnce(MONEY_NAMES, async () => await close(false));
  const change = (changed: Partial<Asked>): void => {
    setAsked({ ...asked, ...changed });
    preview.reset();
    make.reset();
  };
  const error = make.error ?? preview.error;
  return (
    <Drawer title="Close period" onClose={onClose}>
      <p className="muted">
        Makes a draft for each period that has ended by the billing terms of an advertiser. You
        approve drafts one by one; until then the advertiser sees nothing.
      </p>
      <RecordChoice
        label="Advertiser"
        load={advertiserChoices}
        none="All advertisers"
        value={asked.advertiserId}
        fault={error instanceof Problem ? error.fields["advertiser_id"] : undefined}
        onChange={(advertiserId) => change({ advertiserId })}
      />
      {asked.advertiserId !== "" && (
        <label className="row">
          <input
            type="checkbox"
            checked={asked.isUntilNow}
            onChange={(event) => change({ isUntilNow: event.currentTarget.checked })}
          />
          Also what was posted since the last whole period, until now
        </label>
      )}
      <div className="row wrap">
        <button
          type="button"
          className="button"
          disabled={preview.isPending}
          onClick={() => preview.mutate(undefined)}
        >
          {preview.isPending ? "Looking" : "Preview"}
        </button>
        {preview.data !== undefined && preview.data.invoices.length > 0 && !make.isSuccess && (
          <button
            type="button"
            className="button first"
            disabled={make.isPending}
            onClick={() => make.mutate(undefined)}
          >
            {make.isPending ? "Closing" : "Make the drafts"}
          </button>
        )}
      </div>
      {error !== null && <ProblemNotice error={error} />}
      <Outcome made={make.data} previewed={preview.data} />
    </Drawer>
  );
}

type Closed = {
  readonly invoices: readonly ClosedInvoice[];
  readonly is_complete: boolean;
};

function Outcome({
  made,
  previewed,
}: {
  readonly made: Closed | undefined;
  readonly previewed: Closed | undefined;
}): ReactElement | null {
  if (made === undefined)
    return previewed === undefined ? null : <Preview invoices={previewed.invoices} />;
  return (
    <p role="status">
      Closed {made.invoices.length}. You find the drafts in the list.
      {!made.is_complete && " There are more: close once more."}
    </p>
  );
}

function Preview({ invoices }: { readonly invoices: readonly ClosedInvoice[] }): ReactElement {
  if (invoices.length === 0)
    return <p role="status">Nothing to close: no period has ended with anything to invoice.</p>;
  return (
    <DataTable<ClosedInvoice>
      caption="What would be invoiced"
      rows={invoices}
      keyOf={(row) => `${row.advertiser_id} ${row.currency} ${row.period_to}`}
      columns={[
        {
          name: "advertiser",
          title: "Advertiser",
          cell: (row) => <StrangerText text={row.advertiser_name} />,
        },
        { name: "period", title: "Period", cell: (row) => <PeriodText invoice={row} /> },
        { name: "status", title: "Becomes", cell: (row) => <InvoiceStatus invoice={row} /> },
        {
          name: "gross",
          title: "Total",
          isNumber: true,
          cell: (row) =>
            formatMoney(row.status === "carried" ? row.total : row.gross, row.currency),
        },
      ]}
    />
  );
}
