import type { ReactElement } from "react";
import { InstantText } from "../parts/instant-text.tsx";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { StatusBadge } from "../parts/status-badge.tsx";
import { StrangerText } from "../parts/stranger-text.tsx";
import { type ImportKind, rowsInWords } from "./import-words.ts";
import { useRecentImports } from "./use-imports.ts";

/** The newest imports of a kind, of everybody. They go on without this page. */
export function RecentImports({
  kind,
  onOpen,
}: {
  readonly kind: ImportKind;
  readonly onOpen: (id: number) => void;
}): ReactElement | null {
  const { data = [], isError, error } = useRecentImports(kind);
  if (isError) return <ProblemNotice error={error} />;
  if (data.length === 0) return null;
  return (
    <section className="stack tight" aria-label="Recent imports">
      <h3>Recent imports</h3>
      <ul className="plain-list">
        {data.map((one) => (
          <li key={one.id} className="row wrap">
            <button type="button" className="button" onClick={() => onOpen(one.id)}>
              {one.dry_run ? "Check" : "Import"} {one.id}
            </button>
            <StatusBadge status={one.status} />
            <span className="grow break">
              {one.name !== "" && (
                <>
                  <StrangerText text={one.name} />,{" "}
                </>
              )}
              {rowsInWords(one)}
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
