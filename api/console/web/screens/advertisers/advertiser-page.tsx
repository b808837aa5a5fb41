import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { later } from "../../later.tsx";
import { type Membership, mayDo, useMembership } from "../../member/membership.ts";
import { hasRight } from "../../member/rights.ts";
import { useWrite } from "../../member/use-write.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import type { RecordBody, Save } from "../../records/form-field.ts";
import { ManagedBy } from "../../records/managed-by.tsx";
import { RecordPage, type RecordTab, useRecordId } from "../../records/record-page.tsx";
import { RecordSums } from "../charts/record-sums.tsx";
import { ADVERTISER_LIST, type Advertiser } from "./advertiser.ts";
import { AdvertiserOverview } from "./advertiser-overview.tsx";

const WAITING = <Skeleton height={320} />;
const Offers = later(async () => (await import("../offers/offers-of.tsx")).OffersOf, WAITING);
const Integration = later(
  async () => (await import("./advertiser-integration.tsx")).AdvertiserIntegration,
  WAITING,
);
const Tax = later(async () => (await import("./advertiser-tax.tsx")).AdvertiserTax, WAITING);
const People = later(async () => (await import("../account-people.tsx")).AccountPeople, WAITING);
const History = later(async () => (await import("../record-history.tsx")).RecordHistory, WAITING);

/** One advertiser, by the parts in which it is read and changed. */
export function AdvertiserPage(): ReactElement {
  const membership = useMembership();
  const { api, role } = membership;
  const id = useRecordId();
  const params = { path: { id } };
  const record = useRecord(membership, {
    name: "advertiser",
    id,
    load: async (signal) => (await read(api.GET("/advertisers/{id}", { params, signal }))).data,
  });
  const names = ["advertisers", "advertiser", "record-history"];
  const save = useWrite(names, async (body: RecordBody) => {
    await read(api.PATCH("/advertisers/{id}", { params, body }));
  });
  const mayWrite = role === "admin" && mayDo(membership, "advertisers.write");
  return (
    <RecordPage<Advertiser>
      list={ADVERTISER_LIST}
      noun="Advertiser"
      record={record}
      head={(advertiser) => <AdvertiserHead advertiser={advertiser} />}
      tabs={(advertiser) =>
        tabsFor(membership, advertiser, mayWrite ? save.mutateAsync : undefined)
      }
    />
  );
}

function AdvertiserHead({ advertiser }: { readonly advertiser: Advertiser }): ReactElement {
  const { id, status, currency, account_manager_id: manager } = advertiser;
  return (
    <>
      <StatusBadge status={status} />
      <span className="muted">ID {id}</span>
      <ManagedBy manager={manager} />
      <div className="whole-row">
        <RecordSums entity="advertiser" id={id} currency={currency} groupBy="offer" />
      </div>
    </>
  );
}

function tabsFor(
  membership: Membership,
  advertiser: Advertiser,
  onSave: Save | undefined,
): readonly RecordTab[] {
  const { id } = advertiser;
  const account = { advertiser_id: String(id) };
  const tabs: readonly (RecordTab | false)[] = [
    {
      name: "overview",
      title: "Overview",
      content: <AdvertiserOverview {...{ advertiser, onSave }} />,
    },
    mayDo(membership, "offers.read") && {
      name: "offers",
      title: "Offers",
      content: <Offers of={account} />,
    },
    {
      name: "integration",
      title: "Integration",
      content: <Integration advertiser={advertiser} mayWrite={onSave !== undefined} />,
    },
    hasRight(membership, "everything") && {
      name: "tax",
      title: "Tax",
      content: <Tax id={id} mayWrite={membership.role === "admin"} />,
    },
    mayDo(membership, "affiliates.read") && {
      name: "people",
      title: "People and keys",
      content: <People of={account} />,
    },
    mayDo(membership, "audit.read") && {
      name: "history",
      title: "History",
      content: <History path={`/advertisers/${id}`} />,
    },
  ];
  return tabs.filter((tab) => tab !== false);
}
