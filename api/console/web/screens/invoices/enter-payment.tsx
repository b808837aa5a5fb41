import { type ReactElement, useState } from "react";
import { parseDay } from "../../../../../schemas/time/calendar.ts";
import { zoneOf } from "../../../../../schemas/time/zone.ts";
import { read } from "../../client/api-client.ts";
import { advertiserChoices } from "../../client/choices.ts";
import { allPages } from "../../client/lists.ts";
import { Problem } from "../../client/problem.ts";
import { useRecord } from "../../client/records.ts";
import { formatMoney } from "../../format/money.ts";
import { useMembership } from "../../member/membership.ts";
import { useWriteOnce } from "../../member/use-write.ts";
import { Drawer } from "../../parts/drawer.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { TextField } from "../../parts/text-field.tsx";
import { useUnsaved } from "../../parts/unsaved.ts";
import { currencyChoices } from "../../records/known-choices.ts";
import { RecordChoice } from "../../records/record-choice.tsx";
import { localDay } from "../charts/local-days.ts";
import { type Invoice, MONEY_NAMES } from "./invoice.ts";
import { type Settled, settledBy } from "./settled-invoices.ts";

type Draft = {
  readonly advertiser_id: string;
  readonly currency: string;
  readonly amount: string;
  readonly external_id: string;
  readonly received_on: string;
  readonly note: string;
  readonly named: readonly number[];
};

const SHOWN: readonly string[] = [
  "advertiser_id",
  "currency",
  "amount",
  "external_id",
  "received_at",
  "note",
];

/** The instant at which a day begins in the zone. What is no day stays as it is, and the API says so. */
function startOf(day: string, zone: string): string {
  const parsed = parseDay(day);
  const startMs = parsed === undefined ? undefined : zoneOf(zone)?.startOfDayMs(parsed);
  return startMs === undefined ? day : new Date(startMs).toISOString();
}

/** A payment, with the invoices that it will settle. `invoice` is the invoice from which it was opened. */
export function EnterPayment({
  onClose,
  invoice,
}: {
  readonly onClose: () => void;
  readonly invoice?: Invoice | undefined;
}): ReactElement {
  return (
    <Drawer title="Enter payment" onClose={onClose}>
      <Form invoice={invoice} onDone={onClose} />
    </Drawer>
  );
}

function Form({
  onDone,
  invoice,
}: {
  readonly onDone: () => void;
  readonly invoice: Invoice | undefined;
}): ReactElement {
  const { api, currency, zone } = useMembership();
  const [before] = useState<Draft>(() => ({
    advertiser_id: invoice === undefined ? "" : String(invoice.advertiser_id),
    currency: invoice?.currency ?? currency,
    amount: "",
    external_id: "",
    received_on: localDay(new Date(), zone),
    note: "",
    named: invoice === undefined ? [] : [invoice.id],
  }));
  const [draft, setDraft] = useState(before);
  const open = useOpenInvoices(draft.advertiser_id, draft.currency);
  // A request that is sent again after a lost answer enters nothing.
  const [key] = useState(() => crypto.randomUUID());
  const save = useWriteOnce(MONEY_NAMES, async () => {
    const { received_on: day, named, advertiser_id: advertiserId, ...body } = draft;
    await read(
      api.POST("/payments", {
        params: { header: { "Idempotency-Key": key } },
        body: {
          ...body,
          amount: draft.amount.trim(),
          external_id: draft.external_id.trim(),
          advertiser_id: Number(advertiserId),
          received_at: startOf(day, zone),
          invoice_ids: [...named],
        },
      }),
    );
    onDone();
  });
  useUnsaved(JSON.stringify(draft) !== JSON.stringify(before), save.isPending);
  const faults = save.error instanceof Problem ? save.error.fields : {};
  const change = (changed: Partial<Draft>): void => setDraft({ ...draft, ...changed });
  return (
    <form
      className="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(undefined);
      }}
    >
      <RecordChoice
        label="Advertiser"
        load={advertiserChoices}
        value={draft.advertiser_id}
        fault={faults["advertiser_id"]}
        onChange={(advertiser_id) => change({ advertiser_id, named: [] })}
      />
      <RecordChoice
        label="Currency"
        load={currencyChoices}
        value={draft.currency}
        fault={faults["currency"]}
        onChange={(chosen) => change({ currency: chosen, named: [] })}
      />
      <TextField
        label="Amount"
        inputMode="decimal"
        value={draft.amount}
        fault={faults["amount"]}
        hint="Such as 1250.00"
        onChange={(amount) => change({ amount })}
      />
      <TextField
        label="Reference"
        value={draft.external_id}
        fault={faults["external_id"]}
        hint="The name of the payment at your bank. The same reference is entered once."
        onChange={(external_id) => change({ external_id })}
      />
      <TextField
        label="Received on"
        type="date"
        value={draft.received_on}
        fault={faults["received_at"]}
        onChange={(received_on) => change({ received_on })}
      />
      <TextField
        label="Note"
        value={draft.note}
        fault={faults["note"]}
        onChange={(note) => change({ note })}
      />
      <WillSettle
        currency={draft.currency}
        settled={settledBy(open.data ?? [], draft.amount, draft.named)}
        isKnown={open.data !== undefined}
        onName={(id, isNamed) =>
          change({
            named: isNamed ? [...draft.named, id] : draft.named.filter((one) => one !== id),
          })
        }
      />
      {save.isError && (
        <ProblemNotice error={save.error} isShown={(name) => SHOWN.includes(name)} />
      )}
      <div className="row">
        <button type="submit" className="button first" disabled={save.isPending}>
          {save.isPending ? "Saving" : "Enter the payment"}
        </button>
      </div>
    </form>
  );
}

/** The open invoices of an advertiser in a currency, oldest first. */
function useOpenInvoices(advertiserId: string, currency: string) {
  const membership = useMembership();
  const { api } = membership;
  const load = async (): Promise<readonly Invoice[]> => {
    if (advertiserId === "") return [];
    const payer = { advertiser_id: Number(advertiserId), currency };
    const rows = await Promise.all(
      (["sent", "part_paid"] as const).map(
        async (status) =>
          await allPages<Invoice>(
            async (page) =>
              await read(
                api.GET("/invoices", { params: { query: { ...payer, ...page, status } } }),
              ),
          ),
      ),
    );
    return rows
      .flat()
      .filter(({ kind }) => kind === "invoice")
      .toSorted((a, b) => a.period_to.localeCompare(b.period_to) || a.id - b.id);
  };
  return useRecord(membership, { name: "open-invoices", id: `${advertiserId} ${currency}`, load });
}

function WillSettle({
  settled: { invoices, rest },
  currency,
  isKnown,
  onName,
}: {
  readonly settled: Settled;
  readonly currency: string;
  readonly isKnown: boolean;
  readonly onName: (id: number, isNamed: boolean) => void;
}): ReactElement | null {
  if (!isKnown) return null;
  return (
    <fieldset className="stack tight">
      <legend>Will settle</legend>
      {invoices.length === 0 && <p className="muted">No open invoice in this currency.</p>}
      <ul className="plain-list">
        {invoices.map(({ id, number, open, covered, isNamed }) => (
          <li key={id} className="row wrap">
            <label className="row grow">
              <input
                type="checkbox"
                checked={isNamed}
                onChange={(event) => onName(id, event.currentTarget.checked)}
              />
              {number}, open {formatMoney(open, currency)}
            </label>
            <span className={covered === "0.0000" ? "muted" : undefined}>
              {covered === "0.0000" ? "not settled" : formatMoney(covered, currency)}
            </span>
          </li>
        ))}
      </ul>
      <p className="muted">
        Ticked invoices come first, then the oldest.
        {rest !== "0.0000" && ` ${formatMoney(rest, currency)} is left for the next invoices.`}
      </p>
    </fieldset>
  );
}
