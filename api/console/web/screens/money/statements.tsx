import { CalendarCheck } from "lucide-react";
import { type ReactElement, useState } from "react";
import { useLocation } from "wouter";
import { affiliateIdChoices } from "../../client/choices.ts";
import { useMembership } from "../../member/membership.ts";
import { currencyChoices } from "../../records/known-choices.ts";
import type { ListFilter } from "../../records/list-filters.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { ApproveChosen } from "./approve-chosen.tsx";
import { ClosePeriods } from "./close-periods.tsx";
import { isOwn, listOf, listStatements, type Statement } from "./statement.ts";
import { statementColumns } from "./statement-columns.tsx";

const SHARED: ListFilter["choices"] = [
  ["approved", "Approved"],
  ["in_payout", "In payout"],
  ["paid", "Paid"],
];
const MORE: readonly ListFilter[] = [
  { name: "currency", label: "Currency", load: currencyChoices },
  { name: "from", label: "Ends from", isDay: true },
  { name: "to", label: "Ends until", isDay: true, notBefore: "from" },
];
const OF_PARTNER: readonly ListFilter[] = [
  { name: "status", label: "Status", choices: SHARED },
  ...MORE,
];
const OF_STAFF: readonly ListFilter[] = [
  {
    name: "status",
    label: "Status",
    choices: [["draft", "Draft"], ...SHARED, ["carried", "Carried"], ["void", "Void"]],
  },
  { name: "affiliate_id", label: "Partner", load: affiliateIdChoices },
  ...MORE,
  { name: "due_until", label: "Due until", isDay: true },
];

/** What partners are owed for a period; a partner sees its own. */
export function Statements(): ReactElement {
  const membership = useMembership();
  const [isClosing, setClosing] = useState(false);
  const [, go] = useLocation();
  const isPartner = isOwn(membership);
  const mayWrite = membership.role === "admin";
  const { path } = listOf(membership);
  return (
    <>
      <h1>Statements</h1>
      <p className="muted">
        {isPartner
          ? "What you earned in a period, and when it is paid."
          : "What each partner earned in a period. Approve a draft to have it paid."}
      </p>
      <RecordList<Statement>
        title="Statements"
        isTitled={false}
        name="statements"
        filters={isPartner ? OF_PARTNER : OF_STAFF}
        load={async (query, signal) => await listStatements(membership, query, signal)}
        columns={statementColumns(isPartner)}
        keyOf={({ id }) => String(id)}
        onOpen={({ id }) => go(`${membership.base}${path}/${id}`)}
        nothing={<strong>No statements yet</strong>}
        actions={
          mayWrite && (
            <button type="button" className="button" onClick={() => setClosing(true)}>
              <CalendarCheck size={14} aria-hidden /> Close periods
            </button>
          )
        }
        {...(mayWrite
          ? { bulk: (rows, chosen) => <ApproveChosen rows={rows} chosen={chosen} /> }
          : {})}
      />
      {isClosing && <ClosePeriods onClose={() => setClosing(false)} />}
    </>
  );
}
