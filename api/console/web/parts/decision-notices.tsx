import { X } from "lucide-react";
import {
  type ReactElement,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { formatCount } from "../format/figure.ts";
import { wordsOf } from "./decision-words.ts";
import { Decisions, type Notice } from "./decisions.ts";
import { ProblemNotice } from "./problem-notice.tsx";
import { StrangerText } from "./stranger-text.tsx";

const SECOND_MS = 1_000;
const SHOWN_MAX = 100;
const HELD = ".decision-notices:hover, .decision-notices :focus-visible";

/** All decisions of this page. */
export const decisions = new Decisions(() => document.querySelector(HELD) !== null);

addEventListener("pagehide", () => decisions.leave());
addEventListener("beforeunload", (event) => {
  if (decisions.mayLose()) event.preventDefault();
});

/** Places for the notices, the last one on top: a drawer has its own, because nothing behind it can be reached. */
const places = { ids: [] as readonly string[], listeners: new Set<() => void>() };

function setPlaces(ids: readonly string[]): void {
  places.ids = ids;
  for (const listener of places.listeners) listener();
}

function listenToPlaces(listener: () => void): () => void {
  places.listeners.add(listener);
  return () => places.listeners.delete(listener);
}

/** What was decided, with Undo for as long as it is not sent. */
export function DecisionNotices(): ReactElement {
  const place = useId();
  const notices = useSyncExternalStore(decisions.listen, decisions.notices);
  const top = useSyncExternalStore(listenToPlaces, () => places.ids.at(-1));
  useEffect(() => {
    setPlaces([...places.ids, place]);
    return () => setPlaces(places.ids.filter((id) => id !== place));
  }, [place]);
  return (
    <section className="decision-notices" aria-label="What was decided" aria-live="polite">
      {top === place && notices.map((notice) => <OneNotice key={notice.id} notice={notice} />)}
    </section>
  );
}

function OneNotice({ notice }: { readonly notice: Notice }): ReactElement {
  const { id, state, skipped, sent, keys } = notice;
  const frame = useRef<HTMLDivElement>(null);
  const undo = (): void => {
    decisions.undo(id);
    frame.current?.focus();
  };
  return (
    <div
      ref={frame}
      tabIndex={-1}
      className={state === "failed" || skipped.length > 0 ? "notice warn" : "notice"}
    >
      <div className="grow stack tight">
        <strong>
          <StrangerText text={wordsOf(notice)} />
        </strong>
        {state === "waiting" && <SecondsLeft leftMs={notice.leftMs} />}
        {state === "sending" && keys.length > 1 && (
          <span className="row">
            <progress value={sent} max={keys.length} aria-label="Sent" />
            {formatCount(sent)} of {formatCount(keys.length)}
          </span>
        )}
        {state === "failed" && <Failure notice={notice} />}
        {(state === "done" || state === "failed") && skipped.length > 0 && (
          <SkippedRows notice={notice} />
        )}
      </div>
      <Buttons notice={notice} onUndo={undo} />
    </div>
  );
}

function Buttons({
  notice: { id, state, button },
  onUndo,
}: {
  readonly notice: Notice;
  readonly onUndo: () => void;
}): ReactElement {
  return (
    <>
      {state === "waiting" && (
        <>
          <button type="button" className="button first" onClick={onUndo}>
            Undo
          </button>
          <button type="button" className="button" onClick={() => void decisions.send(id)}>
            {button} now
          </button>
        </>
      )}
      {state === "failed" && (
        <button type="button" className="button" onClick={() => void decisions.send(id)}>
          Try again
        </button>
      )}
      {state !== "waiting" && state !== "sending" && (
        <button
          type="button"
          className="button plain icon"
          aria-label="Close"
          onClick={() => decisions.close(id)}
        >
          <X size={16} aria-hidden />
        </button>
      )}
    </>
  );
}

/** Not read aloud: a screen reader would say every second. */
function SecondsLeft({ leftMs }: { readonly leftMs: number }): ReactElement {
  return (
    <span className="muted" aria-live="off">
      in {Math.max(1, Math.ceil(leftMs / SECOND_MS))} s
    </span>
  );
}

function Failure({ notice: { error, keys, what } }: { readonly notice: Notice }): ReactElement {
  return (
    <>
      <ProblemNotice error={error} />
      {keys.length > 1 && (
        <ul className="plain-list skipped">
          {keys.slice(0, SHOWN_MAX).map((key) => (
            <li key={key}>
              <StrangerText text={what([key])} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function SkippedRows({ notice: { skipped } }: { readonly notice: Notice }): ReactElement {
  const [isWhole, setWhole] = useState(false);
  const shown = skipped.slice(0, isWhole ? skipped.length : SHOWN_MAX);
  return (
    <>
      <ul className="plain-list skipped">
        {shown.map(({ name, why }) => (
          <li key={`${name} ${why}`}>
            <StrangerText text={name} /> <span className="muted">{why}</span>
          </li>
        ))}
      </ul>
      {shown.length < skipped.length && (
        <div className="row">
          <button type="button" className="button" onClick={() => setWhole(true)}>
            Show all
          </button>
        </div>
      )}
    </>
  );
}

/** What will become of the rows of a kind, by their keys. */
export function useWaiting(kind: string): ReadonlyMap<string, string> {
  const notices = useSyncExternalStore(decisions.listen, decisions.notices);
  return useMemo(
    () =>
      new Map(
        notices
          .filter((one) => one.kind === kind && ["waiting", "sending"].includes(one.state))
          .flatMap(({ keys, verb }) => keys.map((key) => [key, verb] as const)),
      ),
    [notices, kind],
  );
}

/** Beside the status of a row about which a decision waits. */
export function WaitingMark({
  kind,
  of,
}: {
  readonly kind: string;
  readonly of: string;
}): ReactElement | null {
  const verb = useWaiting(kind).get(of);
  return verb === undefined ? null : <span className="muted"> will be {verb}</span>;
}
