import { useQueryClient } from "@tanstack/react-query";
import { type ReactElement, useEffect, useState } from "react";
import { useWrite } from "../member/use-write.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";

/** A request that a new record still needs. */
export type Remaining = {
  /** What it does, such as "Give access to Anna's blog". */
  readonly title: string;
  readonly run: () => Promise<unknown>;
};

/** What failed after a record had been made, by the address of the record. */
const remaining = new Map<string, readonly Failed[]>();
type Failed = Remaining & { readonly error: Error };

/** Runs what a new record needs beside the request that made it. What fails is kept for its page, and the rest still runs. */
export async function finish(path: string, needed: readonly Remaining[]): Promise<void> {
  const failed: Failed[] = [];
  for (const one of needed) {
    try {
      await one.run();
    } catch (error) {
      failed.push({ ...one, error: error instanceof Error ? error : new Error(String(error)) });
    }
  }
  remaining.set(path, failed);
}

/** What is missing of a record that was just made. Each part can be sent again, without making the record twice. */
export function Unfinished({ path }: { readonly path: string }): ReactElement | null {
  const [failed, setFailed] = useState(() => remaining.get(path) ?? []);
  useEffect(() => {
    remaining.set(path, failed);
  }, [path, failed]);
  if (failed.length === 0) return null;
  return (
    <section className="notice warn" aria-label="Not done yet">
      <div className="grow stack">
        <strong>It was created, but this is not done yet:</strong>
        {failed.map((one) => (
          <Repeat
            key={one.title}
            failed={one}
            onDone={() => setFailed((before) => before.filter((other) => other !== one))}
          />
        ))}
      </div>
    </section>
  );
}

function Repeat({
  failed: { title, run, error: first },
  onDone,
}: {
  readonly failed: Failed;
  readonly onDone: () => void;
}): ReactElement {
  const queries = useQueryClient();
  const again = useWrite([], async () => {
    await run();
    onDone();
    await queries.invalidateQueries();
  });
  const error = again.isPending ? null : (again.error ?? first);
  return (
    <div className="stack tight">
      {error !== null && <ProblemNotice error={error} />}
      <div className="row wrap">
        <span className="grow">{title}</span>
        <button
          type="button"
          className="button"
          disabled={again.isPending}
          aria-label={`Try again: ${title}`}
          onClick={() => again.mutate(undefined)}
        >
          Try again
        </button>
      </div>
    </div>
  );
}
