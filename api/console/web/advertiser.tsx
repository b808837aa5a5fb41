import {
  ChartLine,
  Code,
  FileText,
  KeyRound,
  LayoutDashboard,
  ScrollText,
  ShieldCheck,
  UserRound,
  Users,
} from "lucide-react";
import type { ReactElement } from "react";
import { ADVERTISER_FIGURES } from "./figures/advertiser-figures.ts";
import { ADVERTISER_PALETTE } from "./palette/advertiser-palette.ts";
import type { NavigationGroup } from "./parts/navigation-groups.ts";
import { Dashboard } from "./screens/dashboard/dashboard.tsx";
import { laterScreen, Screens } from "./screens.tsx";

const SCREENS = {
  "/": Dashboard,
  "/you": laterScreen(async () => (await import("./session/person.tsx")).Person),
  "/reports": laterScreen(async () => (await import("./screens/reports/reports.tsx")).Reports),
  "/conversions": laterScreen(
    async () => (await import("./screens/conversions/conversions.tsx")).Conversions,
  ),
  "/invoices": laterScreen(
    async () => (await import("./screens/invoices/own-invoices.tsx")).OwnInvoices,
  ),
  "/invoices/:id/:tab?": laterScreen(
    async () => (await import("./screens/invoices/own-invoice-page.tsx")).OwnInvoicePage,
  ),
  "/integration": laterScreen(
    async () => (await import("./screens/account/integration.tsx")).Integration,
  ),
  "/inbound": laterScreen(
    async () => (await import("./screens/integrations/inbound-log.tsx")).InboundLog,
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
      { path: "/conversions", title: "Conversions", icon: ShieldCheck },
    ],
  },
  {
    title: "Money",
    destinations: [{ path: "/invoices", title: "Invoices", icon: FileText }],
  },
  {
    title: "Integration",
    destinations: [
      { path: "/integration", title: "Integration", icon: Code },
      { path: "/inbound", title: "Incoming postbacks", icon: ScrollText },
    ],
  },
  {
    title: "Account",
    destinations: [
      { path: "/account", title: "Profile", icon: UserRound },
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
