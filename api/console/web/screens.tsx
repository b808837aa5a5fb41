import { type ComponentType, type ReactElement, Suspense } from "react";
import { Route, Switch } from "wouter";
import { Skeleton } from "./parts/skeleton.tsx";
import { NotThere } from "./screens/not-there.tsx";
import { useMembership } from "./session/membership.ts";
import { type NavigationGroup, Shell } from "./shell/shell.tsx";

const HEIGHT = 480;

/** The screens of a role by their address below that of the membership. */
export function Screens({
  groups,
  screens,
}: {
  readonly groups: readonly NavigationGroup[];
  readonly screens: { readonly "/": ComponentType } & Readonly<Record<string, ComponentType>>;
}): ReactElement {
  const { base } = useMembership();
  return (
    <Shell groups={groups}>
      <Suspense fallback={<Skeleton height={HEIGHT} />}>
        <Switch>
          <Route path={base} component={screens["/"]} />
          {Object.entries(screens).map(([path, screen]) => (
            <Route key={path} path={`${base}${path}`} component={screen} />
          ))}
          <Route component={NotThere} />
        </Switch>
      </Suspense>
    </Shell>
  );
}
