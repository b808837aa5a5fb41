import { useMutation, useQueryClient } from "@tanstack/react-query";
import { CircleUser, LogOut } from "lucide-react";
import { type ReactElement, type ReactNode, useMemo } from "react";
import { Link, useLocation } from "wouter";
import { read } from "../client/api-client.ts";
import { useApi } from "../client/use-api.ts";
import { SingleKeys } from "../keys/single-keys.tsx";
import { useOwnTheme } from "../look/use-own-look.ts";
import { useMembership } from "../member/membership.ts";
import type { RolePalette } from "../palette/found.ts";
import { PaletteButton } from "../palette/palette-button.tsx";
import { DecisionNotices, decisions } from "../parts/decision-notices.tsx";
import type { NavigationGroup } from "../parts/navigation-groups.ts";
import { baseOf } from "../session/base-of.ts";
import { Arrival } from "./arrival.tsx";
import { Banners } from "./banners.tsx";
import { Navigation } from "./navigation.tsx";
import { NavigationSheet } from "./navigation-sheet.tsx";
import { ThemeMenu } from "./theme-menu.tsx";

/** Navigation at the left, who and where at the top, the screen below. */
export function Shell({
  groups,
  palette,
  children,
}: {
  readonly groups: readonly NavigationGroup[];
  readonly palette: RolePalette;
  readonly children: ReactNode;
}): ReactElement {
  useOwnTheme();
  const destinations = useMemo(() => groups.flatMap((group) => group.destinations), [groups]);
  return (
    <div className="shell">
      <a className="skip" href="#screen">
        Skip to content
      </a>
      <nav className="side side-links" aria-label="Screens">
        <Navigation groups={groups} />
      </nav>
      <div>
        <header className="top">
          <NavigationSheet groups={groups} />
          <WorkspaceChoice />
          <PaletteButton groups={groups} palette={palette} />
          <ThemeMenu />
          <OwnLink />
          <SignOutButton />
        </header>
        <Banners />
        <main id="screen" tabIndex={-1}>
          {children}
        </main>
        <Arrival destinations={destinations} />
      </div>
      <DecisionNotices />
      <SingleKeys destinations={destinations} />
    </div>
  );
}

function WorkspaceChoice(): ReactElement {
  const { session, membershipId, workspaceName, accountName } = useMembership();
  const [, go] = useLocation();
  const name = accountName === undefined ? workspaceName : `${accountName} · ${workspaceName}`;
  if (session.memberships.length < 2) {
    return (
      <strong className="workspace" title={name}>
        {name}
      </strong>
    );
  }
  return (
    <select
      className="select workspace"
      aria-label="Workspace"
      title={name}
      value={membershipId}
      onChange={(event) => {
        const chosen = session.memberships.find(
          ({ id }) => String(id) === event.currentTarget.value,
        );
        if (chosen !== undefined) go(`${baseOf(chosen)}/`);
      }}
    >
      {session.memberships.map(({ id, workspace, affiliate, advertiser }) => (
        <option key={id} value={id}>
          {[affiliate?.name ?? advertiser?.name, workspace.name].filter(Boolean).join(" · ")}
        </option>
      ))}
    </select>
  );
}

function OwnLink(): ReactElement {
  const { base, session } = useMembership();
  return (
    <Link
      className="button plain own-link"
      href={`${base}/you`}
      title={`${session.person.name}, ${session.person.email}`}
    >
      <CircleUser size={16} aria-hidden />
      <span className="unseen-small">{session.person.name}</span>
    </Link>
  );
}

function SignOutButton(): ReactElement {
  const api = useApi(0);
  const queries = useQueryClient();
  const signOut = useMutation({
    mutationFn: async () => await read(api.POST("/sign-out")),
    onSettled: () => {
      queries.clear();
      location.assign("/console/");
    },
  });
  // What waits is sent while there is still a session. If that fails, the person stays and reads it.
  const leave = async (): Promise<void> => {
    if (await decisions.settle()) signOut.mutate();
  };
  return (
    <button type="button" className="button plain" onClick={() => void leave()}>
      <LogOut size={16} aria-hidden />
      <span className="unseen-small">Sign out</span>
    </button>
  );
}
