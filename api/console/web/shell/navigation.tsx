import { Bookmark } from "lucide-react";
import type { ReactElement } from "react";
import { Link, useLocation } from "wouter";
import { formatCount } from "../format/figure.ts";
import { useMembership } from "../member/membership.ts";
import { useAttention } from "../member/use-attention.ts";
import type { Destination, NavigationGroup } from "../parts/navigation-groups.ts";
import { StrangerText } from "../parts/stranger-text.tsx";
import { pathOf, useViews } from "../views/use-views.ts";

/** The palette finds other views. */
const VIEWS_MAX = 8;
/** Larger numbers have no room. */
const BADGE_MAX = 999;

/** The screens of a role. */
export function Navigation({
  groups,
  onGo,
}: {
  readonly groups: readonly NavigationGroup[];
  /** Called when a link was followed, so that a sheet can close. */
  readonly onGo?: () => void;
}): ReactElement {
  const { base } = useMembership();
  const views = useViews().data ?? [];
  return (
    <>
      {groups.map(({ title, destinations }) => (
        <div key={title} className="group-of-links">
          <p className="group">{title}</p>
          {destinations.map((destination) => (
            <NavigationLink key={destination.path} destination={destination} onGo={onGo} />
          ))}
        </div>
      ))}
      {views.length > 0 && (
        <div className="group-of-links">
          <p className="group">Saved views</p>
          {views.slice(0, VIEWS_MAX).map((view) => (
            <Link key={view.id} href={base + pathOf(view)} onClick={onGo}>
              <Bookmark size={16} aria-hidden />
              <span className="view-name">
                <StrangerText text={view.name} />
              </span>
            </Link>
          ))}
        </div>
      )}
    </>
  );
}

function NavigationLink({
  destination: { path, title, icon: Icon },
  onGo,
}: {
  readonly destination: Destination;
  readonly onGo: (() => void) | undefined;
}): ReactElement {
  const { base } = useMembership();
  const [location] = useLocation();
  const href = `${base}${path}`;
  const isCurrent = path === "/" ? location === href || location === base : isIn(location, href);
  return (
    <Link href={href} aria-current={isCurrent ? "page" : undefined} onClick={onGo}>
      <Icon size={16} aria-hidden />
      {title}
      {path === "/inbox" && <WaitingBadge />}
    </Link>
  );
}

/** How many decisions wait. Only the navigation of the staff has an inbox. */
function WaitingBadge(): ReactElement | null {
  const { data = [] } = useAttention();
  const count = data.reduce((sum, item) => sum + item.count, 0);
  if (count === 0) return null;
  const isWhole = data.every((item) => item.is_whole);
  const shown = count > BADGE_MAX || !isWhole ? `${formatCount(BADGE_MAX)}+` : formatCount(count);
  return (
    <span className="count-badge" title={`${formatCount(count)}${isWhole ? "" : " or more"} wait`}>
      {shown}
      <span className="unseen"> waiting</span>
    </span>
  );
}

/** A record, or the steps that make one, belongs to its list. */
function isIn(location: string, href: string): boolean {
  return (
    location === href ||
    (location.startsWith(href) && /^\/(?:new|\d+(?:\/.*)?)$/.test(location.slice(href.length)))
  );
}
