import { type ReactElement, type ReactNode, useState } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { advertiserChoices, affiliateIdChoices } from "../../client/choices.ts";
import { fromAddress } from "../../client/lists.ts";
import { formatMoney } from "../../format/money.ts";
import { statusWords } from "../../format/value-words.ts";
import { useMembership } from "../../member/membership.ts";
import { useWriteOnce } from "../../member/use-write.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { Facts } from "../../parts/facts.tsx";
import { InstantText } from "../../parts/instant-text.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { currencyChoices } from "../../records/known-choices.ts";
import type { ListFilter } from "../../records/list-filters.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { useBillingSettings } from "./use-billing-settings.ts";

export type Adjustment = components["schemas"]["Adjustment"];

/** What is read again after an adjustment. */
export const CHANGED_BY_ADJUSTMENT = ["adjustments", "balances", "ledger", "billing-settings"];

export const KIND_CHOICES = [
  ["bonus", "Bonus"],
  ["deduction", "Deduction"],
  ["correction", "Correction"],
  ["bounty", "Bounty"],
  ["opening", "Opening balance"],
  ["write_off", "Write-off of a negative balance"],
] as const;

const FILTERS: readonly ListFilter[] = [
  { name: "affiliate_id", label: "Partner", load: affiliateIdChoices },
  { name: "advertiser_id", label: "Advertiser", load: advertiserChoices },
  { name: "kind", label: "Kind", choices: KIND_CHOICES },
  { name: "currency", label: "Currency", load: currencyChoices },
];

export const ADJUSTMENT_COLUMNS: readonly Column<Adjustment>[] = [
  { name: "at", title: "Time", cell: (row) => <InstantText iso={row.created_at} /> },
  {
    name: "owner",
    title: "For",
    opens: true,
    cell: (row) => <StrangerText text={ownerOf(row)} />,
  },
  {
    name: "amount",
    title: "Amount",
    isNumber: true,
    isEarly: true,
    cell: ({ amount, currency }) => formatMoney(amount, currency),
  },
  { name: "kind", title: "Kind", cell: ({ kind }) => kindWords(kind) },
  { name: "reason", title: "Reason", cell: ({ reason }) => <StrangerText text={reason} /> },
  { name: "state", title: "State", cell: stateOf },
];

/** Corrections by hand, newest first. */
export function Adjustments({ actions }: { readonly actions: ReactNode }): ReactElement {
  const { api } = useMembership();
  const [opened, setOpened] = useState<Adjustment>();
  return (
    <>
      <RecordList<Adjustment>
        title="Adjustments"
        name="adjustments"
        filters={FILTERS}
        load={async (query, signal) =>
          await read(api.GET("/adjustments", { params: { query: fromAddress(query) }, signal }))
        }
        columns={ADJUSTMENT_COLUMNS}
        keyOf={({ id }) => String(id)}
        onOpen={setOpened}
        nothing={<strong>No adjustments yet</strong>}
        actions={actions}
      />
      {opened !== undefined && (
        <AdjustmentDrawer adjustment={opened} onClose={() => setOpened(undefined)} />
      )}
    </>
  );
}

function AdjustmentDrawer({
  adjustment,
  onClose,
}: {
  readonly adjustment: Adjustment;
  readonly onClose: () => void;
}): ReactElement {
  const { api, role } = useMembership();
  const settings = useBillingSettings();
  const [key] = useState(() => crypto.randomUUID());
  const { id, amount, currency, kind, reason, visible } = adjustment;
  const reverse = useWriteOnce(CHANGED_BY_ADJUSTMENT, async () => {
    const params = { path: { id }, header: { "Idempotency-Key": key } };
    await read(api.POST("/adjustments/{id}/reverse", { params }));
    onClose();
  });
  const isOpen = adjustment.reverses_id === null && adjustment.reversed_by_id === null;
  return (
    <Drawer title={`${kindWords(kind)} ${formatMoney(amount, currency)}`} onClose={onClose}>
      <Facts
        facts={[
          ["For", ownerOf(adjustment)],
          ["Amount", formatMoney(amount, currency)],
          ["Kind", kindWords(kind)],
          ["Reason", reason],
          ["Seen by", visible === false ? "Staff only" : "Staff and the account"],
          ["Conversion", adjustment.conversion_id],
          ["State", stateOf(adjustment)],
          ["Time", <InstantText key="at" iso={adjustment.created_at} />],
        ]}
      />
      {role === "admin" && isOpen && settings.data?.enabled === true && (
        <ConfirmButton
          label="Reverse"
          question={`Posts ${formatMoney(amount.startsWith("-") ? amount.slice(1) : `-${amount}`, currency)}. It cannot be reversed again.`}
          isBusy={reverse.isPending}
          onConfirm={() => reverse.mutate(undefined)}
        />
      )}
      {reverse.isError && <ProblemNotice error={reverse.error} />}
    </Drawer>
  );
}

function ownerOf({ affiliate_name: partner, advertiser_name: advertiser }: Adjustment): string {
  return partner ?? advertiser ?? "";
}

function kindWords(kind: string): string {
  return KIND_CHOICES.find(([value]) => value === kind)?.[1] ?? statusWords(kind);
}

function stateOf({ reverses_id: reverses, reversed_by_id: reversedBy }: Adjustment): string {
  if (reverses !== null) return "Reversal";
  return reversedBy === null ? "Posted" : "Reversed";
}
