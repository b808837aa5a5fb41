import type { ComponentType, ReactElement } from "react";
import { useAddress } from "../../address/use-address.ts";
import { useMembership } from "../../member/membership.ts";
import { hasRight, type Needs } from "../../member/rights.ts";
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

type Part = {
  readonly name: string;
  readonly title: string;
  readonly screen: ComponentType;
  readonly needs: Needs;
};

const FIRST: Part = {
  name: "smart-links",
  title: "Smart links",
  screen: SmartLinks,
  needs: "links.read",
};
const PARTS: readonly Part[] = [
  FIRST,
  {
    name: "traffic-controls",
    title: "Traffic controls",
    screen: TrafficControls,
    needs: "offers.read",
  },
  {
    name: "conversion-rules",
    title: "Conversion rules",
    screen: ConversionRules,
    needs: "conversions.read",
  },
  { name: "offer-groups", title: "Offer groups", screen: OfferGroups, needs: "offers.read" },
  { name: "coupons", title: "Coupons", screen: Coupons, needs: "conversions.read" },
  { name: "templates", title: "Source templates", screen: SourceTemplates, needs: "links.read" },
  { name: "own-terms", title: "Own terms", screen: OwnTerms, needs: "offers.read" },
  { name: "link-keys", title: "Link keys", screen: LinkKeys, needs: "links.read" },
  { name: "blocklist", title: "Blocklist", screen: Blocklist, needs: "everything" },
];

/** What decides about links, clicks and conversions beside the offers. */
export function Rules(): ReactElement {
  const membership = useMembership();
  const [search] = useAddress();
  const parts = PARTS.filter(({ needs }) => hasRight(membership, needs));
  const { name, screen: Screen } =
    parts.find((part) => part.name === search.get("of")) ?? parts[0] ?? FIRST;
  return (
    <>
      <h1>Rules</h1>
      <SectionTabs
        label="Kinds of rules"
        tabs={parts}
        current={name}
        path={`${membership.base}/rules`}
      />
      <Screen key={name} />
    </>
  );
}
