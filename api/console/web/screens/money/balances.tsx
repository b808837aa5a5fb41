import { type ReactElement, type ReactNode, useState } from "react";
import { Link } from "wouter";
import { useAddress } from "../../address/use-address.ts";
import { read } from "../../client/api-client.ts";
import { advertiserChoices, affiliateIdChoices } from "../../client/choices.ts";
import { fromAddress } from "../../client/lists.ts";
import { useMembership } from "../../member/membership.ts";
import { CsvButton } from "../../parts/csv-button.tsx";
import { SectionTabs } from "../../parts/section-tabs.tsx";
import { currencyChoices } from "../../records/known-choices.ts";
import { givenFilters, type ListFilter } from "../../records/list-filters.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { AccountDrawer } from "./account-drawer.tsx";
import { AddAdjustment } from "./add-adjustment.tsx";
import { Adjustments } from "./adjustments.tsx";
import { BALANCE_COLUMNS, type Balance } from "./balance-columns.tsx";
import { useBillingSettings } from "./use-billing-settings.ts";

const PARTS = [
  { name: "affiliate", title: "Partners" },
  { name: "advertiser", title: "Advertisers" },
  { name: "adjustments", title: "Adjustments" },
] as const;

const OF_KIND = {
  affiliate: { noun: "Partner", load: affiliateIdChoices },
  advertiser: { noun: "Advertiser", load: advertiserChoices },
} as const;

/** What is owed to partners and by advertisers. */
export function Balances(): ReactElement {
  const { base, role } = useMembership();
  const [search] = useAddress();
  const [isAdding, setAdding] = useState(false);
  const { name } = PARTS.find((part) => part.name === search.get("of")) ?? PARTS[0];
  const state = useBillingSettings();
  const mayAdd = role === "admin" && state.data?.enabled === true;
  const add = mayAdd && (
    <button type="button" className="button first" onClick={() => setAdding(true)}>
      Add adjustment
    </button>
  );
  return (
    <>
      <header className="row wrap">
        <h1 className="grow">Balances</h1>
        <Link className="button" href={`${base}/money/settings`}>
          Billing settings
        </Link>
      </header>
      <StateNotice />
      <SectionTabs label="Parts" tabs={PARTS} current={name} path={`${base}/money`} />
      {name === "adjustments" ? (
        <Adjustments actions={add} />
      ) : (
        <BalanceList key={name} kind={name} actions={add} />
      )}
      {isAdding && <AddAdjustment onClose={() => setAdding(false)} />}
    </>
  );
}

/** Says that billing is off, or that the books are wrong. */
function StateNotice(): ReactElement | null {
  const { base } = useMembership();
  const { data } = useBillingSettings();
  if (data === undefined) return null;
  if (!data.enabled)
    return (
      <div className="notice" role="status">
        <p className="grow">
          Billing is off: nothing is posted, and what you see is pending only.{" "}
          <Link href={`${base}/money/settings`}>Switch it on in the billing settings</Link>
        </p>
      </div>
    );
  if (data.violations === 0) return null;
  return (
    <div className="notice bad" role="alert">
      <div className="grow">
        <strong>The last audit found faults in the books</strong>
        <p>
          Nothing is approved until an audit finds none.{" "}
          <Link href={`${base}/money/settings`}>See the audit</Link>
        </p>
      </div>
    </div>
  );
}

function BalanceList({
  kind,
  actions,
}: {
  readonly kind: keyof typeof OF_KIND;
  readonly actions: ReactNode;
}): ReactElement {
  const { api } = useMembership();
  const [search] = useAddress();
  const [opened, setOpened] = useState<Balance>();
  const { noun, load } = OF_KIND[kind];
  const filters: readonly ListFilter[] = [
    { name: "owner_id", label: noun, load },
    { name: "currency", label: "Currency", load: currencyChoices },
  ];
  return (
    <>
      <RecordList<Balance>
        title={`Balances of ${noun.toLowerCase()}s`}
        name="balances"
        filters={filters}
        fixed={{ kind }}
        load={async (query, signal) =>
          await read(api.GET("/balances", { params: { query: fromAddress(query) }, signal }))
        }
        columns={BALANCE_COLUMNS[kind]}
        keyOf={({ id }) => id}
        onOpen={setOpened}
        nothing={<strong>No balances yet</strong>}
        actions={
          <>
            <CsvButton path="/balances" query={{ kind, ...givenFilters(search, filters) }} />
            {actions}
          </>
        }
      />
      {opened !== undefined && (
        <AccountDrawer balance={opened} onClose={() => setOpened(undefined)} />
      )}
    </>
  );
}
