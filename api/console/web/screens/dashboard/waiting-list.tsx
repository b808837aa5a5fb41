import type { ReactElement } from "react";
import { Link } from "wouter";
import { formatCount } from "../../format/figure.ts";
import { useMembership } from "../../member/membership.ts";
import { useAttention } from "../../member/use-attention.ts";
import { Awaited } from "../../parts/awaited.tsx";
import { waitingPlace } from "../inbox/waiting-place.ts";
import { CapMeters } from "../offers/cap-meters.tsx";

const HEIGHT = 200;
/** Share of a cap from which it is nearly reached, as the count of what waits has it. */
const NEARLY = "0.8";

/** What waits for a decision of the staff, each with the way to it, and the caps that are nearly reached. */
export function WaitingList(): ReactElement {
  const { base } = useMembership();
  const attention = useAttention();
  return (
    <section className="panel beside-panel" aria-label="Waiting for a decision">
      <header>
        <h2 className="grow">Waiting for a decision</h2>
        <Link className="button plain" href={`${base}/inbox`}>
          Inbox
        </Link>
      </header>
      <Awaited asked={attention} height={HEIGHT}>
        {(items) => {
          const waiting = items.filter(({ count }) => count > 0);
          return (
            <>
              {waiting.length === 0 && <p className="muted">Nothing waits.</p>}
              <ul className="waiting-list">
                {waiting.map((item) => {
                  const { title, path } = waitingPlace(item);
                  return (
                    <li key={`${title} ${path}`}>
                      <Link href={base + path}>
                        <span className="grow">{title}</span>
                        <strong>
                          {formatCount(item.count)}
                          {item.is_whole ? "" : "+"}
                        </strong>
                      </Link>
                    </li>
                  );
                })}
              </ul>
              {waiting.some(({ kind }) => kind === "caps") && (
                <CapMeters title="Caps nearly reached" query={{ min_share: NEARLY }} namesOwners />
              )}
            </>
          );
        }}
      </Awaited>
    </section>
  );
}
