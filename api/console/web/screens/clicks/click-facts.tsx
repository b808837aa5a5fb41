import type { ReactElement, ReactNode } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { advertiserChoices, type LoadChoices } from "../../client/choices.ts";
import { type RoleFigures, useRoleFigures } from "../../figures/role-figures.ts";
import { formatCountry } from "../../format/country.ts";
import { formatMoney } from "../../format/money.ts";
import { plainText } from "../../format/plain-text.ts";
import { formatInstant } from "../../format/time.ts";
import { clickReasonWords, linkWords } from "../../format/value-words.ts";
import { type Membership, useMembership } from "../../member/membership.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { linkOrNothing } from "../../parts/safe-link.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RecordLink } from "../../records/record-link.tsx";
import { RecordName } from "../../records/record-name.tsx";
import { clickGroups } from "./click-words.ts";

type Click = components["schemas"]["Click"];
type Named = { readonly id: number; readonly label: string } | null;

/** Smart links are named here and chosen nowhere. */
const SMART_LINKS: LoadChoices = {
  name: "smart-links-by-id",
  permission: "links.read",
  load: async () => await Promise.resolve({ choices: [], isWhole: true }),
  nameOf: async ({ api }, id, signal) => {
    const params = { path: { id: Number(id) } };
    return (await read(api.GET("/smart-links/{id}", { params, signal }))).data.name;
  },
};

/** A click as people read it: names that lead to their records, then visitor and source. */
export function ClickFacts({
  click,
  offer,
  affiliate,
}: {
  readonly click: Click;
  readonly offer: Named;
  readonly affiliate: Named;
}): ReactElement {
  const membership = useMembership();
  const { clickAmounts } = useRoleFigures();
  return (
    <>
      <Facts facts={mainFacts(membership, click, clickAmounts)} />
      <Facts facts={recordFacts(membership, { click, offer, affiliate })} />
      {clickGroups(click).map(({ title, rows }) => (
        <section key={title} className="stack tight">
          <h3>{title}</h3>
          <Facts facts={rows.map(([words, name, value]): Fact => [words, shown(name, value)])} />
        </section>
      ))}
    </>
  );
}

function mainFacts(
  { zone }: Membership,
  click: Click,
  amounts: RoleFigures["clickAmounts"],
): readonly Fact[] {
  const values = new Map<string, unknown>(Object.entries(click));
  return [
    ["Time", formatInstant(click.ts, zone)],
    ["Status", <StatusBadge key="status" status={click.status} />],
    ["Reason", clickReasonWords(click.status_reason)],
    ["Link", linkWords(click.link_type)],
    ["Sent to", linkOrNothing(click.destination)],
    ...amounts.map(([name, title]): Fact => [title, amountText(values.get(name), click.currency)]),
    [
      "Click ID",
      <span key="id" className="row">
        <code className="break">{click.click_id}</code>
        <CopyButton label="Copy the click ID" text={click.click_id} />
      </span>,
    ],
  ];
}

function recordFacts(
  { role }: Membership,
  {
    click: { advertiser_id: advertiser = 0, smart_link_id: smartLink = 0 },
    offer,
    affiliate,
  }: { readonly click: Click; readonly offer: Named; readonly affiliate: Named },
): readonly Fact[] {
  const isStaff = role === "admin" || role === "analyst";
  return [
    ["Offer", linkTo("/offers", offer)],
    ["Partner", isStaff ? linkTo("/partners", affiliate) : ""],
    [
      "Advertiser",
      isStaff && advertiser !== 0 ? (
        <RecordLink key="advertiser" path="/advertisers" id={advertiser}>
          <RecordName of={advertiserChoices} id={advertiser} />
        </RecordLink>
      ) : (
        ""
      ),
    ],
    [
      "Smart link",
      isStaff && smartLink !== 0 ? (
        <RecordLink key="smart" path="/rules" id={smartLink}>
          <RecordName of={SMART_LINKS} id={smartLink} />
        </RecordLink>
      ) : (
        ""
      ),
    ],
  ];
}

function linkTo(path: string, named: Named): ReactNode {
  if (named === null) return "";
  return (
    <RecordLink path={path} id={named.id}>
      <StrangerText text={named.label} />
    </RecordLink>
  );
}

function amountText(amount: unknown, currency: string): string {
  return typeof amount !== "string" || /^0(?:\.0*)?$/.test(amount)
    ? ""
    : formatMoney(amount, currency);
}

function shown(name: string, value: unknown): ReactNode {
  if (value === true) return "Yes";
  if (name === "country") return formatCountry(plainText(value));
  return plainText(value);
}
