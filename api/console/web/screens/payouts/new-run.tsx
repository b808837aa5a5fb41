import { type ReactElement, useState } from "react";
import { Link, useLocation } from "wouter";
import { read } from "../../client/api-client.ts";
import type { Choice } from "../../client/choices.ts";
import { Problem } from "../../client/problem.ts";
import { formatCount } from "../../format/figure.ts";
import { formatMoney } from "../../format/money.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite, useWriteOnce } from "../../member/use-write.ts";
import { CheckList } from "../../parts/check-list.tsx";
import { ChoiceField } from "../../parts/choice-field.tsx";
import { DataTable } from "../../parts/data-table.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { TextField } from "../../parts/text-field.tsx";
import { currencyChoices } from "../../records/known-choices.ts";
import { RecordChoice } from "../../records/record-choice.tsx";
import { localDay } from "../charts/local-days.ts";
import {
  type FileFormat,
  FORMATS,
  formatOf,
  methodOf,
  PAYOUT_NAMES,
  type PayoutDueLine,
} from "./payout.ts";
import { dueColumns, heldColumns } from "./payout-columns.tsx";
import { useMethods } from "./use-methods.ts";

type Terms = {
  readonly currency: string;
  readonly methods: readonly string[];
  /** "" for any. */
  readonly format: string;
  readonly due_until: string;
  readonly execution_date: string;
};

const FILES: readonly Choice[] = [
  ["", "Any"],
  ...FORMATS.map(([format, name]): Choice => [format, name]),
];
/** A drawer is narrow: who, how much, why and until when. */
const SHOWN_OF_HELD = 4;
const SHOWN: readonly string[] = ["currency", "methods", "format", "due_until", "execution_date"];

function formatIn({ format }: Terms): { readonly format?: FileFormat[0] } {
  const known = formatOf(format);
  return known === undefined ? {} : { format: known[0] };
}

/** Shows who a run would pay and hold, then makes it. */
export function NewRun({ onClose }: { readonly onClose: () => void }): ReactElement {
  const { api, base, currency, zone } = useMembership();
  const [, navigate] = useLocation();
  const [terms, setTerms] = useState<Terms>(() => {
    const today = localDay(new Date(), zone);
    return { currency, methods: [], format: "", due_until: today, execution_date: today };
  });
  // A request that is sent again after a lost answer makes no second run; other terms are another request.
  const [key, setKey] = useState(() => crypto.randomUUID());
  const preview = useWrite([], async () => {
    const { currency: of, methods, due_until: until } = terms;
    const query = {
      ...formatIn(terms),
      currency: of,
      due_until: until,
      ...(methods.length === 0 ? {} : { methods: methods.join(",") }),
    };
    return (await read(api.GET("/payout-runs/due", { params: { query } }))).data;
  });
  const make = useWriteOnce(PAYOUT_NAMES, async () => {
    const methods = terms.methods.map(methodOf).filter((one) => one !== undefined);
    const params = { header: { "Idempotency-Key": key } };
    const { format: _chosen, ...others } = terms;
    const body = { ...others, ...formatIn(terms), methods };
    const { data } = await read(api.POST("/payout-runs", { params, body }));
    onClose();
    navigate(`${base}/money/payouts/${data.id}`);
  });
  const change = (changed: Partial<Terms>): void => {
    setTerms({ ...terms, ...changed });
    setKey(crypto.randomUUID());
    preview.reset();
    make.reset();
  };
  const error = make.error ?? preview.error;
  const due = preview.data;
  const hasAny = due !== undefined && due.lines.length + due.held.length > 0;
  return (
    <Drawer title="New run" onClose={onClose}>
      <p className="muted">
        Pays the approved statements that are due. The run is a draft until it is approved.
      </p>
      <TermFields
        terms={terms}
        faults={error instanceof Problem ? error.fields : {}}
        onChange={change}
      />
      <div className="row wrap">
        <button
          type="button"
          className="button"
          disabled={preview.isPending}
          onClick={() => preview.mutate(undefined)}
        >
          {preview.isPending ? "Looking" : "Preview"}
        </button>
        {hasAny && (
          <button
            type="button"
            className="button first"
            disabled={make.isPending}
            onClick={() => make.mutate(undefined)}
          >
            {make.isPending ? "Making" : "Make the run"}
          </button>
        )}
      </div>
      {error !== null && <ProblemNotice error={error} isShown={(name) => SHOWN.includes(name)} />}
      {due !== undefined && <Due due={due} />}
    </Drawer>
  );
}

function TermFields({
  terms,
  faults,
  onChange,
}: {
  readonly terms: Terms;
  readonly faults: Readonly<Record<string, string>>;
  readonly onChange: (changed: Partial<Terms>) => void;
}): ReactElement {
  const { choices } = useMethods();
  return (
    <>
      <RecordChoice
        label="Currency"
        load={currencyChoices}
        value={terms.currency}
        fault={faults["currency"]}
        onChange={(currency) => onChange({ currency })}
      />
      <CheckList
        label="Ways to pay (none chosen: all)"
        chosen={terms.methods}
        choices={choices}
        fault={faults["methods"]}
        onChange={(methods) => onChange({ methods })}
      />
      <ChoiceField
        label="File"
        value={terms.format}
        choices={FILES}
        hint="Holds whoever cannot be paid with this file"
        fault={faults["format"]}
        onChange={(format) => onChange({ format })}
      />
      <TextField
        label="Due until"
        type="date"
        value={terms.due_until}
        fault={faults["due_until"]}
        hint="Statements that are due by this day"
        onChange={(until) => onChange({ due_until: until })}
      />
      <TextField
        label="Execution date"
        type="date"
        value={terms.execution_date}
        fault={faults["execution_date"]}
        hint="When the bank should pay"
        onChange={(day) => onChange({ execution_date: day })}
      />
    </>
  );
}

type DueRun = {
  readonly currency: string;
  readonly total: string;
  readonly held_total: string;
  readonly lines: readonly PayoutDueLine[];
  readonly held: readonly PayoutDueLine[];
};

function Due({ due: { currency, total, held_total, lines, held } }: { readonly due: DueRun }) {
  const { wordsOf } = useMethods();
  if (lines.length + held.length === 0)
    return (
      <>
        <p role="status">Nothing is due with these terms.</p>
        <Carried currency={currency} />
      </>
    );
  const keyOf = ({ affiliate_id: id }: PayoutDueLine): string => String(id);
  return (
    <>
      <p role="status">
        {formatCount(lines.length)} paid with {formatMoney(total, currency)},{" "}
        {formatCount(held.length)} held with {formatMoney(held_total, currency)}.
      </p>
      <Carried currency={currency} />
      {held.length > 0 && (
        <section className="stack tight">
          <h3>Held</h3>
          <DataTable<PayoutDueLine>
            caption="Who is held"
            rows={held}
            keyOf={keyOf}
            columns={heldColumns<PayoutDueLine>(currency, wordsOf).slice(0, SHOWN_OF_HELD)}
          />
        </section>
      )}
      {lines.length > 0 && (
        <section className="stack tight">
          <h3>Paid</h3>
          <DataTable<PayoutDueLine>
            caption="Who is paid"
            rows={lines}
            keyOf={keyOf}
            columns={dueColumns(currency, wordsOf)}
          />
        </section>
      )}
    </>
  );
}

/** Who is in no run, because the minimum is not reached: the preview cannot name them, their statements can. */
function Carried({ currency }: { readonly currency: string }): ReactElement {
  const { base } = useMembership();
  return (
    <p className="muted">
      Not in a run:{" "}
      <Link href={`${base}/money/statements?status=carried&currency=${currency}`}>
        Statements below the minimum
      </Link>
      , which are carried to the next period.
    </p>
  );
}
