import type { ReactElement } from "react";
import { Link } from "wouter";
import { read } from "../../client/api-client.ts";
import { formatDay } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { Facts } from "../../parts/facts.tsx";
import { InstantText } from "../../parts/instant-text.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import type { FormField, RecordBody } from "../../records/form-field.ts";
import { languageChoices } from "../../records/known-choices.ts";
import { NestedForm } from "../../records/nested-form.tsx";
import { type BillingSettings, useBillingSettings } from "./use-billing-settings.ts";

const HEIGHT = 420;

const STARTS_ON: FormField = {
  name: "starts_on",
  label: "First day",
  kind: "day",
  hint: "Conversions created since then are posted",
};
const FIELDS: readonly FormField[] = [
  {
    name: "legal",
    label: "On documents",
    kind: "group",
    fields: [
      { name: "name", label: "Legal name" },
      { name: "address", label: "Address", kind: "area" },
      { name: "vat_id", label: "VAT number" },
      { name: "iban", label: "IBAN" },
      { name: "bic", label: "BIC" },
    ],
  },
  { name: "default_tax_text", label: "Text beside tax" },
  {
    name: "language",
    label: "Language of documents",
    load: languageChoices,
    hint: "Their parts have German or English names, your texts stay as they are",
  },
  { name: "statement_prefix", label: "Before the number of a statement" },
  { name: "invoice_prefix", label: "Before the number of an invoice" },
  {
    name: "approval",
    label: "Who approves payments",
    choices: [
      ["single", "One admin"],
      ["four_eyes", "Another admin than who prepared them"],
    ],
  },
  { name: "auto_approve", label: "Approve statements without asking", kind: "flag" },
  {
    name: "period_grace_hours",
    label: "Hours until a period is closed",
    kind: "number",
    hint: "After its end",
  },
  {
    name: "payment_change_hold_hours",
    label: "Hours to wait after a changed bank account",
    kind: "number",
  },
  {
    name: "wallet_names",
    label: "Names of own ways to pay",
    kind: "group",
    fields: [
      { name: "wallet_a", label: "Wallet A" },
      { name: "wallet_b", label: "Wallet B" },
    ],
  },
];

/** Switches billing on, and says what stands on documents. */
export function MoneySettings(): ReactElement {
  const { base, role } = useMembership();
  const { data, isError, error } = useBillingSettings();
  const mayWrite = role === "admin";
  return (
    <>
      <nav className="crumbs" aria-label="Back">
        <Link href={`${base}/money`}>Balances</Link>
      </nav>
      <h1>Billing settings</h1>
      {isError && <ProblemNotice error={error} />}
      {data === undefined && !isError && <Skeleton height={HEIGHT} />}
      {data !== undefined && (
        <>
          <Switch settings={data} mayWrite={mayWrite} />
          {mayWrite && <Documents settings={data} />}
          {data.enabled && <Audit settings={data} />}
        </>
      )}
    </>
  );
}

function useSave() {
  const { api } = useMembership();
  return useWrite(["billing-settings", "balances", "wallet-names"], async (body: RecordBody) => {
    await read(api.PATCH("/billing-settings", { body }));
  });
}

type Part = { readonly settings: BillingSettings; readonly mayWrite: boolean };

function Switch({ settings, mayWrite }: Part): ReactElement {
  const save = useSave();
  const { enabled, starts_on: day, has_entries: isPosted } = settings;
  return (
    <section className="panel stack narrow">
      <h2>{enabled ? "Billing is on" : "Billing is off"}</h2>
      {enabled && isPosted && <Facts facts={[["First day", formatDay(day)]]} />}
      {!enabled && (
        <p>
          Switching it on posts every approved conversion created since the first day, with all that
          happened to it. Older conversions stay in your old books: enter what was open there as
          adjustments. The first day cannot be changed once something is posted.
        </p>
      )}
      {mayWrite && !enabled && (
        <NestedForm
          key={settings.updated_at}
          fields={isPosted && day !== null ? [] : [STARTS_ON]}
          initial={settings}
          submit="Switch billing on"
          onSubmit={async (body) => await save.mutateAsync({ ...body, enabled: true })}
        />
      )}
      {mayWrite && enabled && !isPosted && (
        <NestedForm
          key={settings.updated_at}
          fields={[STARTS_ON]}
          initial={settings}
          submit="Change the first day"
          onSubmit={save.mutateAsync}
        />
      )}
    </section>
  );
}

function Documents({ settings }: { readonly settings: BillingSettings }): ReactElement {
  const save = useSave();
  return (
    <section className="panel stack narrow">
      <h2>Documents and approval</h2>
      <NestedForm
        key={settings.updated_at}
        fields={FIELDS}
        initial={settings}
        submit="Save"
        onSubmit={save.mutateAsync}
      />
      {save.isSuccess && <p role="status">Saved.</p>}
    </section>
  );
}

/** The books are checked when somebody asks, and every night. */
function Audit({ settings }: { readonly settings: BillingSettings }): ReactElement {
  const membership = useMembership();
  const run = useWrite(["billing-settings"], async () => {
    return (await read(membership.api.GET("/billing/audit"))).data;
  });
  const { audited_at: at, violations } = settings;
  return (
    <section className="panel stack narrow">
      <h2>Audit of the books</h2>
      <p>
        {at === null ? (
          "Not audited yet."
        ) : (
          <>
            Last audit <InstantText iso={at} />.{" "}
          </>
        )}
        {at !== null && (violations === 0 ? "Everything adds up." : `Faults: ${violations}.`)}
      </p>
      <div className="row">
        <button
          type="button"
          className="button"
          disabled={run.isPending}
          onClick={() => run.mutate(undefined)}
        >
          {run.isPending ? "Checking" : "Check the books now"}
        </button>
      </div>
      {run.isError && <ProblemNotice error={run.error} />}
      {run.data !== undefined && run.data.violations.length > 0 && (
        <ul className="fault-list">
          {run.data.violations.map((one) => (
            <li key={`${one.invariant} ${one.subject}`}>
              {one.invariant}, {one.subject}: expected {one.expected}, found {one.found}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
