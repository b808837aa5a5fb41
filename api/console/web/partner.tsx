import {
  Banknote,
  ChartLine,
  Coins,
  KeyRound,
  LayoutDashboard,
  Link2,
  MousePointerClick,
  ReceiptText,
  ShieldCheck,
  Tag,
  UserRound,
  Users,
  Webhook,
} from "lucide-react";
import type { ReactElement } from "react";
import { PARTNER_FIGURES } from "./figures/partner-figures.ts";
import { PARTNER_PALETTE } from "./palette/partner-palette.ts";
import type { NavigationGroup } from "./parts/navigation-groups.ts";
import { Dashboard } from "./screens/dashboard/dashboard.tsx";
import { laterScreen, Screens } from "./screens.tsx";

const SCREENS = {
  "/": Dashboard,
  "/you": laterScreen(async () => (await import("./session/person.tsx")).Person),
  "/reports": laterScreen(async () => (await import("./screens/reports/reports.tsx")).Reports),
  "/offers": laterScreen(
    async () => (await import("./screens/own-offers/own-offers.tsx")).OwnOffers,
  ),
  "/offers/:id": laterScreen(
    async () => (await import("./screens/own-offers/own-offer.tsx")).OwnOffer,
  ),
  "/links": laterScreen(async () => (await import("./screens/links/links.tsx")).Links),
  "/conversions": laterScreen(
    async () => (await import("./screens/conversions/conversions.tsx")).Conversions,
  ),
  "/clicks": laterScreen(async () => (await import("./screens/clicks/clicks.tsx")).Clicks),
  "/statements": laterScreen(
    async () => (await import("./screens/money/statements.tsx")).Statements,
  ),
  "/statements/:id": laterScreen(
    async () => (await import("./screens/money/statement-page.tsx")).StatementPage,
  ),
  "/payouts": laterScreen(
    async () => (await import("./screens/payouts/own-payouts.tsx")).OwnPayouts,
  ),
  "/earnings": laterScreen(async () => (await import("./screens/money/earnings.tsx")).OwnEarnings),
  "/postbacks": laterScreen(
    async () => (await import("./screens/integrations/postbacks.tsx")).Postbacks,
  ),
  "/account": laterScreen(async () => (await import("./screens/account/account.tsx")).Account),
  "/people": laterScreen(async () => (await import("./screens/workspace/members.tsx")).Members),
  "/keys": laterScreen(async () => (await import("./screens/workspace/keys.tsx")).Keys),
};

const GROUPS: readonly NavigationGroup[] = [
  {
    title: "Analytics",
    destinations: [
      { path: "/", title: "Dashboard", icon: LayoutDashboard },
      { path: "/reports", title: "Reports", icon: ChartLine },
    ],
  },
  {
    title: "Promote",
    destinations: [
      { path: "/offers", title: "Offers", icon: Tag },
      { path: "/links", title: "Links", icon: Link2 },
    ],
  },
  {
    title: "Traffic",
    destinations: [
      { path: "/conversions", title: "Conversions", icon: ShieldCheck },
      { path: "/clicks", title: "Clicks", icon: MousePointerClick },
    ],
  },
  {
    title: "Money",
    destinations: [
      { path: "/earnings", title: "Earnings", icon: Coins },
      { path: "/statements", title: "Statements", icon: ReceiptText },
      { path: "/payouts", title: "Payouts", icon: Banknote },
    ],
  },
  {
    title: "Account",
    destinations: [
      { path: "/postbacks", title: "Postbacks", icon: Webhook },
      { path: "/account", title: "Profile", icon: UserRound },
      { path: "/people", title: "People", icon: Users },
      { path: "/keys", title: "API keys", icon: KeyRound },
    ],
  },
];

/** The screens of a partner. */
export function Partner(): ReactElement {
  return (
    <Screens
      groups={GROUPS}
      screens={SCREENS}
      figures={PARTNER_FIGURES}
      palette={PARTNER_PALETTE}
    />
  );
}
