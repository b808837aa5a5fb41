import { ChartLine, LayoutDashboard } from "lucide-react";
import type { ReactElement } from "react";
import { Route, Switch } from "wouter";
import { Dashboard } from "./screens/dashboard/dashboard.tsx";
import { NotThere } from "./screens/not-there.tsx";
import { Reports } from "./screens/reports/reports.tsx";
import { useMembership } from "./session/membership.ts";
import { type NavigationGroup, Shell } from "./shell/shell.tsx";

const GROUPS: readonly NavigationGroup[] = [
  {
    title: "Figures",
    destinations: [
      { path: "/", title: "Dashboard", icon: LayoutDashboard },
      { path: "/reports", title: "Reports", icon: ChartLine },
    ],
  },
];

/** The screens of admins and analysts. */
export function Staff(): ReactElement {
  const { base } = useMembership();
  return (
    <Shell groups={GROUPS}>
      <Switch>
        <Route path={base} component={Dashboard} />
        <Route path={`${base}/`} component={Dashboard} />
        <Route path={`${base}/reports`} component={Reports} />
        <Route component={NotThere} />
      </Switch>
    </Shell>
  );
}
