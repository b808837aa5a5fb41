import { type FormEvent, type ReactElement, useState } from "react";
import type { paths } from "../../../../../.build/console/openapi.ts";
import {
  type Amount,
  amountOf,
  formatAmount,
  parseAmount,
} from "../../../../../schemas/money/amount.ts";
import { read } from "../../client/api-client.ts";
import { advertiserChoices, affiliateIdChoices } from "../../client/choices.ts";
import { missingProblem, Problem } from "../../client/problem.ts";
import { useRecord } from "../../client/records.ts";
import { formatMoney } from "../../format/money.ts";
import { useMembership } from "../../member/membership.ts";
import { useWriteOnce } from "../../member/use-write.ts";
import { Drawer } from "../../parts/drawer.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { useUnsaved } from "../../parts/unsaved.ts";
import { FieldControls } from "../../records/field-control.tsx";
import {
  changedBody,
  type Draft,
  draftOf,
  missingFaults,
  textIn,
} from "../../records/form-draft.ts";
import type { FormField } from "../../records/form-field.ts";
import { currencyChoices } from "../../records/known-choices.ts";
import { CHANGED_BY_ADJUSTMENT, KIND_CHOICES } from "./adjustments.tsx";

const FIELDS: readonly FormField[] = [
  {
    name: "owner",
    label: "For",
    choices: [
      ["affiliate", "A partner"],
      ["advertiser", "An advertiser"],
    ],
  },
  {
    name: "affiliate_id",
    label: "Partner",
    kind: "record",
    load: affiliateIdChoices,
    required: true,
    onlyFor: { name: "owner", value: "affiliate" },
  },
  {
    name: "advertiser_id",
    label: "Advertiser",
    kind: "record",
    load: advertiserChoices,
    required: true,
    onlyFor: { name: "owner", value: "advertiser" },
  },
  { name: "currency", label: "Currency", load: currencyChoices, required: true },
  {
    name: "amount",
    label: "Amount",
    required: true,
    hint: "With a minus sign, the partner gets less or the advertiser owes less",
  },
  { name: "kind", label: "Kind", choices: KIND_CHOICES },
  { name: "reason", label: "Reason", required: true, hint: "What the account reads" },
  { name: "visible", label: "The account sees it", kind: "flag" },
];
type NewAdjustment = paths["/adjustments"]["post"]["requestBody"]["content"]["application/json"];

const NAMES: ReadonlySet<string> = new Set(FIELDS.map(({ name }) => name));
const BEFORE = draftOf(FIELDS, { owner: "affiliate", kind: "bonus", visible: true });

/** Corrects what one account is owed or owes. Shows its balance before and after. */
export function AddAdjustment({ onClose }: { readonly onClose: () => void }): ReactElement {
  return (
    <Drawer title="Add adjustment" onClose={onClose}>
      <p className="muted">
        It is posted at once and for good. To take it back, reverse it: both stay in the books.
      </p>
      <Form onDone={onClose} />
    </Drawer>
  );
}

function Form({ onDone }: { readonly onDone: () => void }): ReactElement {
  const { api } = useMembership();
  const [draft, setDraft] = useState<Draft>(BEFORE);
  const [missing, setMissing] = useState<Problem>();
  // A request that is sent again after a lost answer adds nothing.
  const [key] = useState(() => crypto.randomUUID());
  const save = useWriteOnce(CHANGED_BY_ADJUSTMENT, async () => {
    const params = { header: { "Idempotency-Key": key } };
    await read(api.POST("/adjustments", { params, body: bodyOf(draft) }));
    onDone();
  });
  const error = missing ?? save.error ?? undefined;
  useUnsaved(!save.isSuccess && JSON.stringify(draft) !== JSON.stringify(BEFORE), save.isPending);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    const faults = missingFaults(FIELDS, draft);
    const isWhole = Object.keys(faults).length === 0;
    setMissing(isWhole ? undefined : missingProblem(faults));
    if (isWhole) save.mutate(undefined);
  };
  return (
    <form className="stack" onSubmit={send} noValidate>
      <FieldControls
        fields={FIELDS}
        draft={draft}
        faults={error instanceof Problem ? error.fields : {}}
        path=""
        onChange={setDraft}
      />
      <BeforeAndAfter draft={draft} />
      {error !== undefined && <ProblemNotice error={error} isShown={(name) => NAMES.has(name)} />}
      <div className="row">
        <button type="submit" className="button first" disabled={save.isPending}>
          {save.isPending ? "Posting" : "Post the adjustment"}
        </button>
        <button type="button" className="button" onClick={onDone}>
          Cancel
        </button>
      </div>
    </form>
  );
}

function bodyOf(draft: Draft): NewAdjustment {
  const { owner: _owner, ...fields } = changedBody(FIELDS, draft, {});
  const isPartner = draft["owner"] === "affiliate";
  const { affiliate_id: partner, advertiser_id: advertiser, ...body } = fields;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the API judges what was typed
  return {
    ...body,
    amount: textIn(draft["amount"]).trim(),
    ...(isPartner ? { affiliate_id: partner } : { advertiser_id: advertiser }),
  } as NewAdjustment;
}

type Owner = { readonly kind: "affiliate" | "advertiser"; readonly id: number };

/** What the account stands at now, and after this. */
function BeforeAndAfter({ draft }: { readonly draft: Draft }): ReactElement | null {
  const kind = draft["owner"] === "advertiser" ? "advertiser" : "affiliate";
  const id = Number(textIn(draft[`${kind}_id`]));
  const currency = textIn(draft["currency"]);
  if (!Number.isSafeInteger(id) || id <= 0 || currency === "") return null;
  return (
    <Standing owner={{ kind, id }} currency={currency} added={typed(textIn(draft["amount"]))} />
  );
}

function Standing({
  owner,
  currency,
  added,
}: {
  readonly owner: Owner;
  readonly currency: string;
  readonly added: Amount | undefined;
}): ReactElement | null {
  const membership = useMembership();
  const balance = useRecord(membership, {
    name: "balances",
    id: `${owner.kind} ${owner.id} ${currency}`,
    load: async (signal) => {
      const query = { kind: owner.kind, owner_id: owner.id, currency };
      return await read(membership.api.GET("/balances", { params: { query }, signal }));
    },
  });
  if (balance.isError) return <ProblemNotice error={balance.error} />;
  if (balance.data === undefined) return null;
  const before = balance.data.data[0]?.balance ?? "0.0000";
  const words = owner.kind === "affiliate" ? "Owed to the partner" : "The advertiser owes";
  return (
    <p role="status">
      {words}: {formatMoney(before, currency)} now
      {added !== undefined &&
        `, ${formatMoney(formatAmount(amountOf(before) + added), currency)} afterwards`}
    </p>
  );
}

/** Undefined until it is an amount. */
function typed(text: string): Amount | undefined {
  const isLess = text.trim().startsWith("-");
  const amount = parseAmount(text.trim().replace(/^-/, ""));
  return amount === undefined ? undefined : isLess ? -amount : amount;
}
