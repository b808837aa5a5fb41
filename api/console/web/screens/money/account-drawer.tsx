import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { formatMoney } from "../../format/money.ts";
import { statusWords } from "../../format/value-words.ts";
import { useMembership } from "../../member/membership.ts";
import { CsvButton } from "../../parts/csv-button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { InstantText } from "../../parts/instant-text.tsx";
import { RecordLink } from "../../records/record-link.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { ADJUSTMENT_COLUMNS, type Adjustment } from "./adjustments.tsx";
import { AMOUNTS, type Balance } from "./balance-columns.tsx";

type Entry = components["schemas"]["LedgerEntry"];

/** One account of the ledger: how it stands, and how it came about. */
export function AccountDrawer({
  balance,
  onClose,
}: {
  readonly balance: Balance;
  readonly onClose: () => void;
}): ReactElement {
  const { api } = useMembership();
  const isPartner = balance.kind === "affiliate";
  const owner = String(balance.owner_id);
  const { currency } = balance;
  const account = isPartner ? "partner_payable" : "advertiser_receivable";
  const ledger = { account, owner, currency };
  return (
    <Drawer title={`${balance.owner_name}, ${currency}`} onClose={onClose}>
      <Facts
        facts={AMOUNTS[balance.kind].map(
          ([name, title]): Fact => [title, formatMoney(balance[name] ?? "0", currency)],
        )}
      />
      <RecordList<Entry>
        title="Ledger"
        name="ledger"
        fixed={ledger}
        load={async (query, signal) =>
          await read(api.GET("/ledger", { params: { query: fromAddress(query) }, signal }))
        }
        columns={isPartner ? OF_PARTNERS : OF_ADVERTISERS}
        keyOf={({ id }) => id}
        nothing={<strong>Nothing is posted yet</strong>}
        actions={<CsvButton path="/ledger" query={ledger} />}
      />
      <RecordList<Adjustment>
        title="Adjustments"
        name="adjustments"
        fixed={{ [isPartner ? "affiliate_id" : "advertiser_id"]: owner, currency }}
        load={async (query, signal) =>
          await read(api.GET("/adjustments", { params: { query: fromAddress(query) }, signal }))
        }
        columns={ADJUSTMENT_COLUMNS.filter(({ name }) => name !== "owner")}
        keyOf={({ id }) => String(id)}
        nothing={<strong>No adjustments</strong>}
      />
    </Drawer>
  );
}

const OF_PARTNERS = columnsOf(-1);
const OF_ADVERTISERS = columnsOf(1);

/** A partner reads what it is owed, which the ledger has as credits. */
function columnsOf(sign: 1 | -1): readonly Column<Entry>[] {
  return [
    {
      name: "posted_at",
      title: "Posted",
      cell: (row) => <InstantText iso={row.posted_at} />,
    },
    { name: "kind", title: "What", cell: ({ kind }) => statusWords(kind) },
    {
      name: "amount",
      title: "Amount",
      isNumber: true,
      isEarly: true,
      cell: ({ amount, currency }) => formatMoney(sign === 1 ? amount : negated(amount), currency),
    },
    {
      name: "description",
      title: "About",
      cell: (row) => <About entry={row} />,
    },
  ];
}

/** What brought an entry about. A conversion is named by its own ID, for nobody knows the number of its history. */
function About({
  entry: { description, source_kind: kind, source_id: id, conversion_id: conversion },
}: {
  readonly entry: Entry;
}): ReactElement {
  if (conversion === null)
    return <>{`${statusWords(description === "" ? kind : description)} ${id}`}</>;
  return (
    <RecordLink path="/conversions" id={conversion}>
      Conversion {conversion.slice(0, 8)}
    </RecordLink>
  );
}

function negated(amount: string): string {
  return amount.startsWith("-") ? amount.slice(1) : `-${amount}`;
}
