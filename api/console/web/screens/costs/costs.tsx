import type { ComponentType, ReactElement } from "react";
import { useAddress } from "../../address/use-address.ts";
import { useMembership } from "../../member/membership.ts";
import { hasRight, type Needs } from "../../member/rights.ts";
import { SectionTabs } from "../../parts/section-tabs.tsx";
import { AdCosts } from "./ad-costs.tsx";
import { Deals } from "./deals.tsx";
import { FxRates } from "./fx-rates.tsx";
import { ProductFeeds } from "./product-feeds.tsx";

type Part = {
  readonly name: string;
  readonly title: string;
  readonly screen: ComponentType;
  readonly needs: Needs;
};

const FIRST: Part = { name: "ad-costs", title: "Ad costs", screen: AdCosts, needs: "reports.read" };
const PARTS: readonly Part[] = [
  FIRST,
  { name: "rates", title: "Reference rates", screen: FxRates, needs: "reports.read" },
  { name: "deals", title: "Deals", screen: Deals, needs: "advertisers.read" },
  { name: "feeds", title: "Product feeds", screen: ProductFeeds, needs: "advertisers.read" },
];

/** What traffic costs, the rates of currencies, and what partners advertise with. */
export function Costs(): ReactElement {
  const membership = useMembership();
  const [search] = useAddress();
  const parts = PARTS.filter(({ needs }) => hasRight(membership, needs));
  const { name, screen: Screen } =
    parts.find((part) => part.name === search.get("of")) ?? parts[0] ?? FIRST;
  return (
    <>
      <h1>Costs and FX</h1>
      <SectionTabs label="Parts" tabs={parts} current={name} path={`${membership.base}/costs`} />
      <Screen key={name} />
    </>
  );
}
