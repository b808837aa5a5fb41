import type { ReactElement } from "react";
import { formatMoney } from "../../format/money.ts";
import { useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { InstantText } from "../../parts/instant-text.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RecordList } from "../../records/record-list.tsx";
import {
  kindText,
  listEntries,
  type StatementEntry,
  type StatementLine,
  type StatementWithLines,
} from "./statement.ts";

/** Every conversion behind a line. */
export function LineEntries({
  statement: { id, currency },
  line,
  onClose,
}: {
  readonly statement: StatementWithLines;
  readonly line: StatementLine;
  readonly onClose: () => void;
}): ReactElement {
  const membership = useMembership();
  const columns: readonly Column<StatementEntry>[] = [
    { name: "at", title: "Posted", cell: (row) => <InstantText iso={row.posted_at} /> },
    {
      name: "amount",
      title: "Amount",
      isNumber: true,
      cell: ({ amount }) => formatMoney(amount, currency),
    },
    {
      name: "conversion",
      title: "Conversion",
      cell: ({ conversion_id: conversion }) => conversion !== null && <code>{conversion}</code>,
    },
    { name: "click", title: "Click", cell: ({ click_id: click }) => <code>{click}</code> },
    { name: "order", title: "Order ID", cell: (row) => <StrangerText text={row.adv_txid ?? ""} /> },
    { name: "reason", title: "Reason", cell: (row) => <StrangerText text={row.reason} /> },
  ];
  const shown =
    membership.role === "partner" ? columns.filter((one) => one.name !== "order") : columns;
  return (
    <Drawer title={`${kindText(line)} ${line.offer_name}`.trim()} onClose={onClose}>
      <RecordList<StatementEntry>
        title="What the line consists of"
        isTitled={false}
        name="statement-entries"
        fixed={{ limit: "50" }}
        load={async (query, signal) =>
          await listEntries(membership, { id, line: line.line }, { query, signal })
        }
        columns={shown}
        keyOf={({ seq }) => String(seq)}
        nothing={<strong>Nothing</strong>}
      />
    </Drawer>
  );
}
