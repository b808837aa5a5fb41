import {
  ChartLine,
  KeyRound,
  LayoutDashboard,
  ListChecks,
  ScrollText,
  ShieldCheck,
  UserRound,
  Users,
} from "lucide-react";
import type { ReactElement } from "react";
import { ADVERTISER_FIGURES } from "./figures/advertiser-figures.ts";
import { later } from "./later.ts";
import { ADVERTISER_PALETTE } from "./palette/advertiser-palette.ts";
import { Dashboard } from "./screens/dashboard/dashboard.tsx";
import { Screens } from "./screens.tsx";
import type { NavigationGroup } from "./shell/navigation.tsx";

const SCREENS = {
  "/": Dashboard,
  "/you": later(async () => (await import("./session/person.tsx")).Person),
  "/reports": later(async () => (await import("./screens/reports/reports.tsx")).Reports),
  "/conversions": later(
    async () => (await import("./screens/conversions/conversions.tsx")).Conversions,
  ),
  "/events": later(
    async () => (await import("./screens/account/received-events.tsx")).ReceivedEvents,
  ),
  "/inbound": later(
    async () => (await import("./screens/integrations/inbound-log.tsx")).InboundLog,
  ),
  "/account": later(async () => (await import("./screens/account/account.tsx")).Account),
  "/people": later(async () => (await import("./screens/workspace/members.tsx")).Members),
  "/keys": later(async () => (await import("./screens/workspace/keys.tsx")).Keys),
};

const GROUPS: readonly NavigationGroup[] = [
  {
    title: "Figures",
    destinations: [
      { path: "/", title: "Dashboard", icon: LayoutDashboard },
      { path: "/reports", title: "Reports", icon: ChartLine },
      { path: "/conversions", title: "Conversions", icon: ShieldCheck },
    ],
  },
  {
    title: "Integration",
    destinations: [
      { path: "/events", title: "Events", icon: ListChecks },
      { path: "/inbound", title: "Inbound calls", icon: ScrollText },
    ],
  },
  {
    title: "Account",
    destinations: [
      { path: "/account", title: "Profile and token", icon: UserRound },
      { path: "/people", title: "People", icon: Users },
      { path: "/keys", title: "API keys", icon: KeyRound },
    ],
  },
];

/** The screens of an advertiser. */
export function Advertiser(): ReactElement {
  return (
    <Screens
      groups={GROUPS}
      screens={SCREENS}
      figures={ADVERTISER_FIGURES}
      palette={ADVERTISER_PALETTE}
    />
  );
}
