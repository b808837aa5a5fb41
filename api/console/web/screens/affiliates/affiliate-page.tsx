import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { later } from "../../later.tsx";
import { type Membership, mayDo, useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import type { RecordBody, Save } from "../../records/form-field.ts";
import { ManagedBy } from "../../records/managed-by.tsx";
import { RecordPage, type RecordTab, useRecordId } from "../../records/record-page.tsx";
import { RecordSums } from "../charts/record-sums.tsx";
import { type Affiliate, PARTNER_LIST } from "./affiliate.ts";
import { AffiliateOverview } from "./affiliate-overview.tsx";

const WAITING = <Skeleton height={320} />;
const Offers = later(async () => (await import("./affiliate-offers.tsx")).AffiliateOffers, WAITING);
const Links = later(async () => (await import("../rules/link-keys.tsx")).LinkKeys, WAITING);
const Conversions = later(
  async () => (await import("../conversions/conversions-of.tsx")).ConversionsOf,
  WAITING,
);
const Postbacks = later(
  async () => (await import("../integrations/postbacks-of.tsx")).PostbacksOf,
  WAITING,
);
const People = later(async () => (await import("../account-people.tsx")).AccountPeople, WAITING);
const Payment = later(
  async () => (await import("./affiliate-payment.tsx")).AffiliatePayment,
  WAITING,
);
const History = later(async () => (await import("../record-history.tsx")).RecordHistory, WAITING);

/** One partner, by the parts in which it is read and changed. */
export function AffiliatePage(): ReactElement {
  const membership = useMembership();
  const { api, role } = membership;
  const id = useRecordId();
  const params = { path: { id: String(id) } };
  const record = useRecord(membership, {
    name: "affiliate",
    id,
    load: async (signal) => (await read(api.GET("/affiliates/{id}", { params, signal }))).data,
  });
  const names = ["affiliates", "affiliate", "record-history"];
  const save = useWrite(names, async (body: RecordBody) => {
    await read(api.PATCH("/affiliates/{id}", { params, body }));
  });
  const mayWrite = role === "admin" && mayDo(membership, "affiliates.write");
  return (
    <RecordPage<Affiliate>
      list={PARTNER_LIST}
      noun="Partner"
      record={record}
      head={(partner) => <AffiliateHead partner={partner} />}
      tabs={(partner) => tabsFor(membership, partner, mayWrite ? save.mutateAsync : undefined)}
    />
  );
}

function AffiliateHead({ partner }: { readonly partner: Affiliate }): ReactElement {
  const { id, code, status, currency, manager_id: manager } = partner;
  return (
    <>
      <StatusBadge status={status} />
      <span>
        Code <code>{code}</code>
      </span>
      <span className="muted">ID {id}</span>
      <ManagedBy manager={manager} />
      <div className="whole-row">
        <RecordSums entity="affiliate" id={id} currency={currency} groupBy="offer" />
      </div>
    </>
  );
}

function tabsFor(
  membership: Membership,
  partner: Affiliate,
  onSave: Save | undefined,
): readonly RecordTab[] {
  const { id } = partner;
  const account = { affiliate_id: String(id) };
  const tabs: readonly (RecordTab | false)[] = [
    {
      name: "overview",
      title: "Overview",
      content: <AffiliateOverview {...{ partner, onSave }} />,
    },
    {
      name: "offers",
      title: "Offers and terms",
      content: <Offers id={id} mayWrite={onSave !== undefined} />,
    },
    mayDo(membership, "links.read") && {
      name: "links",
      title: "Links",
      content: <Links partner={id} />,
    },
    mayDo(membership, "conversions.read") && {
      name: "conversions",
      title: "Conversions",
      content: <Conversions of={account} />,
    },
    mayDo(membership, "postbacks.read") && {
      name: "postbacks",
      title: "Postbacks",
      content: <Postbacks of={account} />,
    },
    { name: "people", title: "People and keys", content: <People of={account} /> },
    { name: "payment", title: "Payment", content: <Payment {...{ partner, onSave }} /> },
    mayDo(membership, "audit.read") && {
      name: "history",
      title: "History",
      content: <History path={`/affiliates/${id}`} />,
    },
  ];
  return tabs.filter((tab) => tab !== false);
}
