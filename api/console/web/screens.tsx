import type { ComponentType, ReactElement } from "react";
import { Route, Switch, useLocation } from "wouter";
import { type RoleFigures, RoleFiguresContext } from "./figures/role-figures.ts";
import { later } from "./later.tsx";
import { useMembership } from "./member/membership.ts";
import type { RolePalette } from "./palette/found.ts";
import type { NavigationGroup } from "./parts/navigation-groups.ts";
import { ScreenBoundary } from "./parts/screen-boundary.tsx";
import { Skeleton } from "./parts/skeleton.tsx";
import { NotThere } from "./screens/not-there.tsx";
import { Shell } from "./shell/shell.tsx";

const HEIGHT = 480;

/** A screen whose code is loaded when it is opened. */
export function laterScreen(load: () => Promise<ComponentType>): ComponentType {
  return later(load, <Skeleton height={HEIGHT} />);
}

/** The screens of a role by their address below the membership's. */
export function Screens({
  groups,
  screens,
  figures,
  palette,
}: {
  readonly groups: readonly NavigationGroup[];
  readonly figures: RoleFigures;
  readonly screens: { readonly "/": ComponentType } & Readonly<Record<string, ComponentType>>;
  readonly palette: RolePalette;
}): ReactElement {
  const { base } = useMembership();
  const [location] = useLocation();
  return (
    <RoleFiguresContext value={figures}>
      <Shell groups={groups} palette={palette}>
        <ScreenBoundary key={screenIn(location.slice(base.length))}>
          <Switch>
            <Route path={base} component={screens["/"]} />
            {Object.entries(screens).map(([path, screen]) => (
              <Route key={path} path={`${base}${path}`} component={screen} />
            ))}
            <Route component={NotThere} />
          </Switch>
        </ScreenBoundary>
      </Shell>
    </RoleFiguresContext>
  );
}

/** The tabs of a record are one screen, so that its frame and the focus stay when another tab is opened. */
function screenIn(path: string): string {
  return /^\/[a-z]+\/\d+(?=\/|$)/.exec(path)?.[0] ?? path;
}
