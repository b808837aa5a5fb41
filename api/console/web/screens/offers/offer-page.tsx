import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { statusWords } from "../../format/value-words.ts";
import { later } from "../../later.tsx";
import { type Membership, mayDo, useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import type { RecordBody, Save } from "../../records/form-field.ts";
import { RecordPage, type RecordTab, useRecordId } from "../../records/record-page.tsx";
import { RecordSums } from "../charts/record-sums.tsx";
import { OFFER_LIST, type Offer } from "./offer.ts";
import { OfferActions } from "./offer-actions.tsx";
import { OfferOverview } from "./offer-overview.tsx";

const WAITING = <Skeleton height={320} />;
const Terms = later(async () => (await import("./offer-terms.tsx")).OfferTerms, WAITING);
const Caps = later(async () => (await import("./offer-rules.tsx")).OfferCaps, WAITING);
const Targeting = later(async () => (await import("./offer-rules.tsx")).OfferTargeting, WAITING);
const Partners = later(async () => (await import("./offer-partners.tsx")).OfferPartners, WAITING);
const Creatives = later(
  async () => (await import("./offer-creatives.tsx")).OfferCreatives,
  WAITING,
);
const Postbacks = later(
  async () => (await import("../integrations/postbacks-of.tsx")).PostbacksOf,
  WAITING,
);
const History = later(async () => (await import("../record-history.tsx")).RecordHistory, WAITING);

/** One offer, by the parts in which it is read and changed. */
export function OfferPage(): ReactElement {
  const membership = useMembership();
  const { api, role } = membership;
  const id = useRecordId();
  const params = { path: { id: String(id) } };
  const record = useRecord(membership, {
    name: "offer",
    id,
    load: async (signal) => (await read(api.GET("/offers/{id}", { params, signal }))).data,
  });
  const save = useWrite(["offers", "offer", "record-history"], async (body: RecordBody) => {
    await read(api.PATCH("/offers/{id}", { params, body }));
  });
  const mayWrite = role === "admin" && mayDo(membership, "offers.write");
  return (
    <RecordPage<Offer>
      list={OFFER_LIST}
      noun="Offer"
      record={record}
      head={(offer) => <OfferHead offer={offer} mayWrite={mayWrite} />}
      tabs={(offer) => tabsFor(membership, offer, mayWrite ? save.mutateAsync : undefined)}
    />
  );
}

function OfferHead({
  offer,
  mayWrite,
}: {
  readonly offer: Offer;
  readonly mayWrite: boolean;
}): ReactElement {
  const { id, code, status, visibility, currency } = offer;
  return (
    <>
      <StatusBadge status={status} />
      <span className="badge">
        {visibility === "approval" ? "By approval" : statusWords(visibility)}
      </span>
      <span>
        Code <code>{code}</code>
      </span>
      <span className="muted">ID {id}</span>
      <span className="grow" />
      {mayWrite && <OfferActions offer={offer} />}
      <div className="whole-row">
        <RecordSums entity="offer" id={id} currency={currency} groupBy="affiliate" />
      </div>
    </>
  );
}

function tabsFor(
  membership: Membership,
  offer: Offer,
  onSave: Save | undefined,
): readonly RecordTab[] {
  const { id } = offer;
  const mayWrite = onSave !== undefined;
  const tabs: readonly (RecordTab | false)[] = [
    { name: "overview", title: "Overview", content: <OfferOverview {...{ offer, onSave }} /> },
    { name: "terms", title: "Terms and events", content: <Terms {...{ offer, onSave }} /> },
    { name: "caps", title: "Caps", content: <Caps {...{ offer, onSave }} /> },
    { name: "targeting", title: "Targeting", content: <Targeting {...{ offer, onSave }} /> },
    { name: "partners", title: "Partners", content: <Partners {...{ offer, onSave }} /> },
    mayDo(membership, "creatives.read") && {
      name: "creatives",
      title: "Creatives",
      content: <Creatives {...{ id, mayWrite }} />,
    },
    mayDo(membership, "postbacks.read") && {
      name: "postbacks",
      title: "Postbacks",
      content: <Postbacks of={{ offer_id: String(id) }} />,
    },
    mayDo(membership, "audit.read") && {
      name: "history",
      title: "History",
      content: <History path={`/offers/${id}`} />,
    },
  ];
  return tabs.filter((tab) => tab !== false);
}
