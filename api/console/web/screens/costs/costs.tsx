import type { ComponentType, ReactElement } from "react";
import { useAddress } from "../../address/use-address.ts";
import { useMembership } from "../../member/membership.ts";
import { SectionTabs } from "../../parts/section-tabs.tsx";
import { AdCosts } from "./ad-costs.tsx";
import { Deals } from "./deals.tsx";
import { FxRates } from "./fx-rates.tsx";
import { ProductFeeds } from "./product-feeds.tsx";

type Part = { readonly name: string; readonly title: string; readonly screen: ComponentType };

const FIRST: Part = { name: "ad-costs", title: "Ad costs", screen: AdCosts };
const PARTS: readonly Part[] = [
  FIRST,
  { name: "rates", title: "Reference rates", screen: FxRates },
  { name: "deals", title: "Deals", screen: Deals },
  { name: "feeds", title: "Product feeds", screen: ProductFeeds },
];

/** What traffic costs, the rates of currencies, and what partners advertise with. */
export function Costs(): ReactElement {
  const { base } = useMembership();
  const [search] = useAddress();
  const { name, screen: Screen } = PARTS.find((part) => part.name === search.get("of")) ?? FIRST;
  return (
    <>
      <h1>Costs and FX</h1>
      <SectionTabs label="Parts" tabs={PARTS} current={name} path={`${base}/costs`} />
      <Screen key={name} />
    </>
  );
}
