import type { ReactElement } from "react";
import { InstantText } from "../../parts/instant-text.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { countsInWords, UNNAMED_FILE } from "./update-words.ts";
import { useRecentUpdates } from "./use-updates.ts";

/** The newest files, of everybody. They go on without this page. */
export function RecentUpdates({
  shown,
  onOpen,
}: {
  readonly shown: number;
  readonly onOpen: (id: number) => void;
}): ReactElement | null {
  const { data = [], isError, error } = useRecentUpdates();
  if (isError) return <ProblemNotice error={error} />;
  if (data.length === 0) return null;
  return (
    <section className="panel stack tight" aria-label="Past files">
      <h2>Past files</h2>
      <ul className="plain-list">
        {data.map((one) => (
          <li key={one.id} className="row wrap">
            <button
              type="button"
              className="button named"
              aria-pressed={one.id === shown}
              onClick={() => onOpen(one.id)}
            >
              {one.name === "" ? UNNAMED_FILE : <StrangerText text={one.name} />}
            </button>
            <StatusBadge status={one.status} />
            <span className="grow break">
              {countsInWords(one)}
              <span className="muted">
                {" "}
                by <StrangerText text={one.created_by} />, <InstantText iso={one.created_at} />
              </span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
