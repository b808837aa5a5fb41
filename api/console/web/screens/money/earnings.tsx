import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { useRecord } from "../../client/records.ts";
import { formatMoney } from "../../format/money.ts";
import { useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { InstantText } from "../../parts/instant-text.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { kindText } from "./statement.ts";

type Earnings = components["schemas"]["Earnings"];
type Adjustment = components["schemas"]["Adjustment"];

const HEIGHT = 240;
const AMOUNTS = [
  ["pending", "Pending, still to be decided"],
  ["approved", "Approved and not paid"],
  ["unbilled", "On the next statement"],
  ["carried", "Carried from the last statement"],
  ["draft", "On a statement in preparation"],
  ["approved_unpaid", "On approved statements"],
  ["in_payout", "Being paid"],
  ["paid_total", "Paid so far"],
] as const;

/** What the partner has earned and was paid, in each currency. */
export function OwnEarnings(): ReactElement {
  const membership = useMembership();
  const { data, isError, error } = useRecord(membership, {
    name: "earnings",
    id: "own",
    load: async (signal) => (await read(membership.api.GET("/me/earnings", { signal }))).data,
  });
  return (
    <>
      <h1>Earnings</h1>
      {isError && <ProblemNotice error={error} />}
      {data === undefined && !isError && <Skeleton height={HEIGHT} />}
      {data?.length === 0 && (
        <section className="panel stack">
          <strong>Nothing earned yet</strong>
        </section>
      )}
      {data?.map((one) => (
        <OfCurrency key={one.currency} earnings={one} />
      ))}
      <OwnAdjustments />
    </>
  );
}

function OfCurrency({ earnings }: { readonly earnings: Earnings }): ReactElement {
  const { currency, next_period_end: end, approved_since: since } = earnings;
  const amounts = AMOUNTS.flatMap(([name, title]): readonly Fact[] => {
    const { [name]: amount } = earnings;
    return amount === null ? [] : [[title, formatMoney(amount, currency)]];
  });
  const next: readonly Fact[] =
    end === null ? [] : [["Next statement after", <InstantText key="end" iso={end} />]];
  const from: readonly Fact[] =
    since === null ? [] : [["Approved since", <InstantText key="since" iso={since} />]];
  return (
    <section className="panel stack" aria-label={`Earnings in ${currency}`}>
      <h2>{currency}</h2>
      <Facts facts={[...amounts, ...from, ...next]} />
    </section>
  );
}

const COLUMNS: readonly Column<Adjustment>[] = [
  { name: "at", title: "Time", cell: (row) => <InstantText iso={row.created_at} /> },
  {
    name: "amount",
    title: "Amount",
    isNumber: true,
    isEarly: true,
    cell: ({ amount, currency }) => formatMoney(amount, currency),
  },
  { name: "kind", title: "Kind", cell: ({ kind }) => kindText({ kind }) },
  { name: "reason", title: "Reason", cell: ({ reason }) => <StrangerText text={reason} /> },
];

function OwnAdjustments(): ReactElement {
  const { api } = useMembership();
  return (
    <RecordList<Adjustment>
      title="Adjustments"
      name="adjustments"
      load={async (query, signal) =>
        await read(api.GET("/adjustments", { params: { query: fromAddress(query) }, signal }))
      }
      columns={COLUMNS}
      keyOf={({ id }) => String(id)}
      nothing={<strong>No adjustments</strong>}
    />
  );
}
