import type { ComponentType, ReactElement } from "react";
import { useAddress } from "../../address/use-address.ts";
import { useMembership } from "../../member/membership.ts";
import { SectionTabs } from "../../parts/section-tabs.tsx";
import { Blocklist } from "./blocklist.tsx";
import { ConversionRules } from "./conversion-rules.tsx";
import { Coupons } from "./coupons.tsx";
import { LinkKeys } from "./link-keys.tsx";
import { OfferGroups } from "./offer-groups.tsx";
import { OwnTerms } from "./own-terms.tsx";
import { SmartLinks } from "./smart-links.tsx";
import { SourceTemplates } from "./source-templates.tsx";
import { TrafficControls } from "./traffic-controls.tsx";

type Part = { readonly name: string; readonly title: string; readonly screen: ComponentType };

const FIRST: Part = { name: "smart-links", title: "Smart links", screen: SmartLinks };
const PARTS: readonly Part[] = [
  FIRST,
  { name: "traffic-controls", title: "Traffic controls", screen: TrafficControls },
  { name: "conversion-rules", title: "Conversion rules", screen: ConversionRules },
  { name: "offer-groups", title: "Offer groups", screen: OfferGroups },
  { name: "coupons", title: "Coupons", screen: Coupons },
  { name: "templates", title: "Source templates", screen: SourceTemplates },
  { name: "own-terms", title: "Own terms", screen: OwnTerms },
  { name: "link-keys", title: "Link keys", screen: LinkKeys },
  { name: "blocklist", title: "Blocklist", screen: Blocklist },
];

/** What decides about links, clicks and conversions beside the offers. */
export function Rules(): ReactElement {
  const { base } = useMembership();
  const [search] = useAddress();
  const { name, screen: Screen } = PARTS.find((part) => part.name === search.get("of")) ?? FIRST;
  return (
    <>
      <h1>Rules</h1>
      <SectionTabs label="Kinds of rules" tabs={PARTS} current={name} path={`${base}/rules`} />
      <Screen key={name} />
    </>
  );
}
