import { useMutation, useQueryClient } from "@tanstack/react-query";
import { CircleUser, LogOut, type LucideIcon, Moon, Sun } from "lucide-react";
import { type ReactElement, type ReactNode, useState } from "react";
import { Link, useLocation } from "wouter";
import { read } from "../client/api-client.ts";
import { useApi } from "../client/use-api.ts";
import { baseOf } from "../session/base-of.ts";
import { useMembership } from "../session/membership.ts";

export type Destination = {
  readonly path: string;
  readonly title: string;
  readonly icon: LucideIcon;
};
export type NavigationGroup = {
  readonly title: string;
  readonly destinations: readonly Destination[];
};

/** Navigation at the left, who and where at the top, the screen below. */
export function Shell({
  groups,
  children,
}: {
  readonly groups: readonly NavigationGroup[];
  readonly children: ReactNode;
}): ReactElement {
  return (
    <div className="shell">
      <a className="skip" href="#screen">
        Skip to content
      </a>
      <nav className="side" aria-label="Screens">
        {groups.map(({ title, destinations }) => (
          <div key={title} className="group-of-links">
            <p className="group">{title}</p>
            {destinations.map((destination) => (
              <NavigationLink key={destination.path} {...destination} />
            ))}
          </div>
        ))}
      </nav>
      <div>
        <header className="top">
          <WorkspaceChoice />
          <span className="grow" />
          <ThemeButton />
          <OwnLink />
          <SignOutButton />
        </header>
        <main id="screen" tabIndex={-1}>
          {children}
        </main>
      </div>
    </div>
  );
}

function NavigationLink({ path, title, icon: Icon }: Destination): ReactElement {
  const { base } = useMembership();
  const [location] = useLocation();
  const href = `${base}${path}`;
  const isCurrent = path === "/" ? location === href || location === base : location === href;
  return (
    <Link href={href} aria-current={isCurrent ? "page" : undefined}>
      <Icon size={16} aria-hidden />
      {title}
    </Link>
  );
}

function WorkspaceChoice(): ReactElement {
  const { session, membershipId, workspaceName, accountName } = useMembership();
  const [, go] = useLocation();
  const name = accountName === undefined ? workspaceName : `${accountName} · ${workspaceName}`;
  if (session.memberships.length < 2) return <strong>{name}</strong>;
  return (
    <select
      className="select"
      aria-label="Workspace"
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
    <Link className="button plain" href={`${base}/you`}>
      <CircleUser size={16} aria-hidden /> {session.person.name}
    </Link>
  );
}

function ThemeButton(): ReactElement {
  const [theme, setTheme] = useState(document.documentElement.dataset["theme"] ?? "light");
  const other = theme === "dark" ? "light" : "dark";
  const change = (): void => {
    document.documentElement.dataset["theme"] = other;
    setTheme(other);
    try {
      localStorage.setItem("theme", other);
    } catch {
      // Storage is blocked: the choice lasts as long as the page.
    }
  };
  const Icon = theme === "dark" ? Sun : Moon;
  return (
    <button
      type="button"
      className="button plain"
      onClick={change}
      aria-label={`Use the ${other} theme`}
    >
      <Icon size={16} aria-hidden />
    </button>
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
  return (
    <button type="button" className="button plain" onClick={() => signOut.mutate()}>
      <LogOut size={16} aria-hidden /> Sign out
    </button>
  );
}
