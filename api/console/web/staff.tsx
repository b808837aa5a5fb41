import {
  Activity,
  Banknote,
  Boxes,
  Building2,
  ChartLine,
  Coins,
  FileCheck,
  FileText,
  Globe,
  Inbox as InboxIcon,
  KeyRound,
  LayoutDashboard,
  Link2,
  ListChecks,
  MousePointerClick,
  ReceiptText,
  Scale,
  ScrollText,
  Settings2,
  ShieldCheck,
  Tag,
  UserRound,
  Users,
  Webhook,
} from "lucide-react";
import type { ReactElement } from "react";
import { STAFF_FIGURES } from "./figures/staff-figures.ts";
import { type Membership, useMembership } from "./member/membership.ts";
import { hasRight, type Needs } from "./member/rights.ts";
import { STAFF_PALETTE } from "./palette/staff-palette.ts";
import type { NavigationGroup } from "./parts/navigation-groups.ts";
import { StaffDashboard } from "./screens/dashboard/staff-dashboard.tsx";
import { laterScreen, Screens } from "./screens.tsx";

const SCREENS = {
  "/": StaffDashboard,
  "/you": laterScreen(async () => (await import("./session/person.tsx")).Person),
  "/reports": laterScreen(async () => (await import("./screens/reports/reports.tsx")).Reports),
  "/inbox": laterScreen(async () => (await import("./screens/inbox/inbox.tsx")).Inbox),
  "/conversions": laterScreen(
    async () => (await import("./screens/conversions/conversions.tsx")).Conversions,
  ),
  "/clicks": laterScreen(async () => (await import("./screens/clicks/clicks.tsx")).Clicks),
  "/partners": laterScreen(
    async () => (await import("./screens/affiliates/affiliates.tsx")).Affiliates,
  ),
  "/partners/new": laterScreen(
    async () => (await import("./screens/affiliates/new-affiliate.tsx")).NewAffiliate,
  ),
  "/partners/:id/:tab?": laterScreen(
    async () => (await import("./screens/affiliates/affiliate-page.tsx")).AffiliatePage,
  ),
  "/offers": laterScreen(async () => (await import("./screens/offers/offers.tsx")).Offers),
  "/offers/new": laterScreen(async () => (await import("./screens/offers/new-offer.tsx")).NewOffer),
  "/offers/:id/:tab?": laterScreen(
    async () => (await import("./screens/offers/offer-page.tsx")).OfferPage,
  ),
  "/advertisers": laterScreen(
    async () => (await import("./screens/advertisers/advertisers.tsx")).Advertisers,
  ),
  "/advertisers/new": laterScreen(
    async () => (await import("./screens/advertisers/new-advertiser.tsx")).NewAdvertiser,
  ),
  "/advertisers/:id/:tab?": laterScreen(
    async () => (await import("./screens/advertisers/advertiser-page.tsx")).AdvertiserPage,
  ),
  "/links": laterScreen(async () => (await import("./screens/links/links.tsx")).Links),
  "/rules": laterScreen(async () => (await import("./screens/rules/rules.tsx")).Rules),
  "/costs": laterScreen(async () => (await import("./screens/costs/costs.tsx")).Costs),
  "/money/invoices": laterScreen(
    async () => (await import("./screens/invoices/invoices.tsx")).Invoices,
  ),
  "/money/invoices/:id/:tab?": laterScreen(
    async () => (await import("./screens/invoices/invoice-page.tsx")).InvoicePage,
  ),
  "/money/confirm": laterScreen(
    async () => (await import("./screens/money/confirmations.tsx")).Confirmations,
  ),
  "/money/statements": laterScreen(
    async () => (await import("./screens/money/statements.tsx")).Statements,
  ),
  "/money/statements/:id": laterScreen(
    async () => (await import("./screens/money/statement-page.tsx")).StatementPage,
  ),
  "/money/payouts": laterScreen(
    async () => (await import("./screens/payouts/payouts.tsx")).Payouts,
  ),
  "/money/payouts/:id": laterScreen(
    async () => (await import("./screens/payouts/payout-page.tsx")).PayoutPage,
  ),
  "/money": laterScreen(async () => (await import("./screens/money/balances.tsx")).Balances),
  "/money/settings": laterScreen(
    async () => (await import("./screens/money/money-settings.tsx")).MoneySettings,
  ),
  "/integrations": laterScreen(
    async () => (await import("./screens/integrations/postbacks.tsx")).Postbacks,
  ),
  "/integrations/webhooks": laterScreen(
    async () => (await import("./screens/integrations/webhooks.tsx")).Webhooks,
  ),
  "/integrations/inbound": laterScreen(
    async () => (await import("./screens/integrations/inbound-log.tsx")).InboundLog,
  ),
  "/workspace": laterScreen(
    async () => (await import("./screens/workspace/settings.tsx")).Settings,
  ),
  "/workspace/domains": laterScreen(
    async () => (await import("./screens/workspace/domains.tsx")).Domains,
  ),
  "/workspace/people": laterScreen(
    async () => (await import("./screens/workspace/members.tsx")).Members,
  ),
  "/workspace/keys": laterScreen(async () => (await import("./screens/workspace/keys.tsx")).Keys),
  "/workspace/audit": laterScreen(
    async () => (await import("./screens/workspace/audit-log.tsx")).AuditLog,
  ),
};

const OPERATOR_SCREENS = {
  "/system": laterScreen(async () => (await import("./screens/system/system.tsx")).System),
  "/system/workspaces": laterScreen(
    async () => (await import("./screens/system/workspaces.tsx")).Workspaces,
  ),
};

const GROUPS: readonly NavigationGroup[] = [
  {
    title: "Analytics",
    destinations: [
      { path: "/", title: "Dashboard", icon: LayoutDashboard },
      { path: "/reports", title: "Reports", icon: ChartLine },
      { path: "/inbox", title: "Inbox", icon: InboxIcon },
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
    title: "Programme",
    destinations: [
      { path: "/offers", title: "Offers", icon: Tag },
      { path: "/partners", title: "Partners", icon: UserRound },
      { path: "/advertisers", title: "Advertisers", icon: Building2 },
      { path: "/links", title: "Links", icon: Link2 },
      { path: "/rules", title: "Rules", icon: ListChecks },
      { path: "/costs", title: "Costs and FX", icon: Coins },
    ],
  },
  {
    title: "Money",
    destinations: [
      { path: "/money", title: "Balances", icon: Scale },
      { path: "/money/confirm", title: "Confirmations", icon: FileCheck },
      { path: "/money/statements", title: "Statements", icon: ReceiptText },
      { path: "/money/payouts", title: "Payouts", icon: Banknote },
      { path: "/money/invoices", title: "Invoices", icon: FileText },
    ],
  },
  {
    title: "Integrations",
    destinations: [
      { path: "/integrations", title: "Postbacks", icon: Webhook },
      { path: "/integrations/webhooks", title: "Webhooks", icon: Webhook },
      { path: "/integrations/inbound", title: "Incoming postbacks", icon: ScrollText },
    ],
  },
  {
    title: "Workspace",
    destinations: [
      { path: "/workspace", title: "Settings", icon: Settings2 },
      { path: "/workspace/domains", title: "Domains", icon: Globe },
      { path: "/workspace/people", title: "People", icon: Users },
      { path: "/workspace/keys", title: "API keys", icon: KeyRound },
      { path: "/workspace/audit", title: "Audit log", icon: ScrollText },
    ],
  },
];

const OPERATOR_GROUP: NavigationGroup = {
  title: "Installation",
  destinations: [
    { path: "/system", title: "System", icon: Activity },
    { path: "/system/workspaces", title: "Workspaces", icon: Boxes },
  ],
};

/** What a member must be allowed to read, or for a new record to write, by the address of the screen. */
const NEEDS: Readonly<Record<string, Needs>> = {
  "/": "reports.read",
  "/reports": "reports.read",
  "/conversions": "conversions.read",
  "/clicks": "clicks.read",
  "/partners": "affiliates.read",
  "/partners/new": "affiliates.write",
  "/partners/:id/:tab?": "affiliates.read",
  "/offers": "offers.read",
  "/offers/new": "offers.write",
  "/offers/:id/:tab?": "offers.read",
  "/advertisers": "advertisers.read",
  "/advertisers/new": "advertisers.write",
  "/advertisers/:id/:tab?": "advertisers.read",
  "/links": "links.read",
  "/rules": ["links.read", "offers.read", "conversions.read"],
  "/costs": ["reports.read", "advertisers.read"],
  "/money": "everything",
  "/money/settings": "everything",
  "/money/confirm": "conversions.read",
  "/money/statements": "everything",
  "/money/statements/:id": "everything",
  "/money/payouts": "everything",
  "/money/payouts/:id": "everything",
  "/money/invoices": "everything",
  "/money/invoices/:id/:tab?": "everything",
  "/integrations": "postbacks.read",
  "/integrations/webhooks": ["everything", "webhooks.manage"],
  "/integrations/inbound": "conversions.read",
  "/workspace": "everything",
  "/workspace/domains": "links.read",
  "/workspace/people": "affiliates.read",
  "/workspace/keys": "everything",
  "/workspace/audit": "audit.read",
};

const OPERATOR_GROUPS = [...GROUPS, OPERATOR_GROUP];
const ALL_SCREENS = { ...SCREENS, ...OPERATOR_SCREENS };

/** The screens of admins and analysts. Those who run the installation have more. */
export function Staff(): ReactElement {
  const membership = useMembership();
  const isOperator = membership.session.person.is_operator;
  return (
    <Screens
      groups={groupsFor(membership, isOperator ? OPERATOR_GROUPS : GROUPS)}
      screens={screensFor(membership, isOperator ? ALL_SCREENS : SCREENS)}
      figures={STAFF_FIGURES}
      palette={STAFF_PALETTE}
    />
  );
}

function groupsFor(
  membership: Membership,
  groups: readonly NavigationGroup[],
): readonly NavigationGroup[] {
  return groups
    .map(({ title, destinations }) => ({
      title,
      destinations: destinations.filter(({ path }) => hasRight(membership, NEEDS[path])),
    }))
    .filter(({ destinations }) => destinations.length > 0);
}

type ScreensOfStaff = Parameters<typeof Screens>[0]["screens"];

/** Who may not read figures begins with what waits. */
function screensFor(membership: Membership, screens: ScreensOfStaff): ScreensOfStaff {
  const allowed = Object.entries(screens).filter(([path]) => hasRight(membership, NEEDS[path]));
  return { "/": SCREENS["/inbox"], ...Object.fromEntries(allowed) };
}
