import { useQuery } from "@tanstack/react-query";
import type { ReactElement, ReactNode } from "react";
import { Link } from "wouter";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { type RoleFigures, useRoleFigures } from "../../figures/role-figures.ts";
import { formatCountry } from "../../format/country.ts";
import { formatMoney } from "../../format/money.ts";
import { formatInstant } from "../../format/time.ts";
import { reasonWords, valueWords } from "../../format/value-words.ts";
import { type Membership, mayDo, useMembership } from "../../member/membership.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { WaitingMark } from "../../parts/decision-notices.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { kindIn } from "../../records/bulk.ts";
import { RecordLink } from "../../records/record-link.tsx";
import { amountOf, type Conversion } from "./conversion.ts";
import { CONVERSIONS, ReviewActions } from "./review-actions.tsx";

const HEIGHT = 320;
const PEOPLE_MAX = 200;
/** A drawer has no choice of rows that a decision would change. */
const NOTHING_CHOSEN = { onDecided: () => undefined, onBack: () => undefined };

/** One conversion: what it is, how it became that, and who was told. */
export function ConversionDrawer({
  id,
  onClose,
}: {
  readonly id: string;
  readonly onClose: () => void;
}): ReactElement {
  const membership = useMembership();
  const { api, role } = membership;
  const { amounts } = useRoleFigures();
  const params = { params: { path: { id } } };
  const record = useRecord(membership, {
    name: "conversion",
    id,
    load: async (signal) => (await read(api.GET("/conversions/{id}", { ...params, signal }))).data,
  });
  const isStaff = role === "admin" || role === "analyst";
  return (
    <Drawer title="Conversion" onClose={onClose}>
      {record.isError && <ProblemNotice error={record.error} />}
      {record.data === undefined && !record.isError && <Skeleton height={HEIGHT} />}
      {record.data !== undefined && <Facts facts={factsOf(record.data, membership, amounts)} />}
      {record.data !== undefined && role === "admin" && mayDo(membership, "conversions.write") && (
        <div className="row wrap">
          <ReviewActions key={record.data.status} rows={[record.data]} chosen={NOTHING_CHOSEN} />
        </div>
      )}
      <History id={id} />
      {isStaff && mayDo(membership, "postbacks.read") && <Told id={id} />}
    </Drawer>
  );
}

function factsOf(
  row: Conversion,
  { zone, base, role, membershipId }: Membership,
  amounts: RoleFigures["amounts"],
): readonly Fact[] {
  const { currency } = row;
  const money = (text: string | undefined): string =>
    text === undefined ? "" : formatMoney(text, currency);
  return [
    [
      "Status",
      <span key="status">
        <StatusBadge status={row.status} />
        <WaitingMark kind={kindIn(membershipId, CONVERSIONS)} of={row.id} />
      </span>,
    ],
    ["Reason", <StrangerText key="reason" text={reasonWords(row.status_reason)} />],
    [
      "ID",
      <span key="id" className="row">
        <code>{row.id}</code>
        <CopyButton label="Copy the ID" text={row.id} />
      </span>,
    ],
    ["Offer", linkTo("/offers", row.offer_id, row.offer_name)],
    ["Event", row.event_code],
    ["Partner", linkTo("/partners", row.affiliate_id, row.affiliate_name)],
    ...amounts.map(([name, title]): Fact => [title, money(amountOf(row, name))]),
    ["Sale", money(row.sale_amount)],
    ["Order ID", row.adv_txid ?? ""],
    ["Method", valueWords("method", row.method)],
    ["Converted", formatInstant(row.conv_ts, zone)],
    ["Clicked", row.click_ts === null ? "" : formatInstant(row.click_ts, zone)],
    [
      "Click",
      row.click_id === "" || role === "advertiser" ? (
        <code key="click">{row.click_id}</code>
      ) : (
        <Link key="click" href={`${base}/clicks?open=${row.click_id}`}>
          <code>{row.click_id}</code>
        </Link>
      ),
    ],
    [
      "Country",
      [formatCountry(row.country), row.region, row.city].filter((part) => part !== "").join(", "),
    ],
    ["Device", [row.device_type, row.os, row.browser].filter((part) => part !== "").join(", ")],
    ["Traffic source", row.traffic_source],
    ["Sub 1", row.sub1 ?? ""],
    ["Sub 2", row.sub2 ?? ""],
    ["Notes", row.notes ?? ""],
  ];
}

/** Nothing where the role may not see the record. */
function linkTo(
  path: "/offers" | "/partners",
  id: number | null | undefined,
  name: string | undefined,
): ReactNode {
  if (name === undefined || name === "") return "";
  const text = <StrangerText text={name} />;
  return id === null || id === undefined ? (
    text
  ) : (
    <RecordLink key={path} path={path} id={id}>
      {text}
    </RecordLink>
  );
}

function History({ id }: { readonly id: string }): ReactElement {
  const membership = useMembership();
  const { api, zone } = membership;
  const history = useRecord(membership, {
    name: "conversion-history",
    id,
    load: async (signal) =>
      (await read(api.GET("/conversions/{id}/history", { params: { path: { id } }, signal }))).data,
  });
  const names = usePeople(history.data?.some((change) => (change.person_id ?? 0) > 0) === true);
  return (
    <section className="stack tight">
      <h3>History</h3>
      {history.isError && <ProblemNotice error={history.error} />}
      <ol className="plain-list">
        {history.data?.map((change) => (
          <li key={`${change.at} ${change.to_status}`}>
            <StatusBadge status={change.to_status} /> {formatInstant(change.at, zone)}, by{" "}
            <StrangerText text={names.get(change.person_id ?? 0) ?? change.actor} />
            {change.reason !== "" && (
              <span className="muted">
                : <StrangerText text={reasonWords(change.reason)} />
              </span>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Names of the people of the workspace. Empty for those who may not see them. */
function usePeople(isNeeded: boolean): ReadonlyMap<number, string> {
  const membership = useMembership();
  const { api, membershipId, role } = membership;
  const people = useQuery({
    queryKey: [membershipId, "people-names"],
    enabled: isNeeded && role === "admin" && mayDo(membership, "affiliates.read"),
    queryFn: async ({ signal }) =>
      (await read(api.GET("/members", { params: { query: { limit: PEOPLE_MAX } }, signal }))).data,
  });
  return new Map(people.data?.map(({ person_id: id, name }) => [id, name] as const) ?? []);
}

function Told({ id }: { readonly id: string }): ReactElement {
  const membership = useMembership();
  const { api, zone } = membership;
  const told = useRecord(membership, {
    name: "conversion-deliveries",
    id,
    load: async (signal) =>
      (await read(api.GET("/conversions/{id}/deliveries", { params: { path: { id } }, signal })))
        .data,
  });
  return (
    <section className="stack tight">
      <h3>Who was told</h3>
      {told.isError && <ProblemNotice error={told.error} />}
      {told.data?.length === 0 && <p className="muted">No postback and no webhook asked for it.</p>}
      <ol className="plain-list">
        {told.data?.map((delivery) => (
          <li key={delivery.id}>
            <StatusBadge status={delivery.status} /> {delivery.kind},{" "}
            {formatInstant(delivery.created_at, zone)}, {delivery.attempts}{" "}
            {delivery.attempts === 1 ? "attempt" : "attempts"}
            <br />
            <bdi className="mono">{delivery.url}</bdi>
            {delivery.error !== "" && <p className="muted">{delivery.error}</p>}
          </li>
        ))}
      </ol>
    </section>
  );
}
