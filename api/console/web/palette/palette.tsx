import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import {
  type KeyboardEvent,
  type ReactElement,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { useLocation } from "wouter";
import { useMembership } from "../member/membership.ts";
import { stepped } from "../parts/list-steps.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { StrangerText } from "../parts/stranger-text.tsx";
import { type Entry, grouped, matching } from "./entries.ts";
import { kindOf, type RolePalette } from "./found.ts";

/** An ID is asked for at once. Typing asks the service only after a pause.  */
const PAUSE_MS = 120;
const SOUGHT_LENGTH_MIN = 2;

/** Finds screens, things to do and records by their names and IDs. */
export function Palette({
  known,
  palette,
  onClose,
}: {
  /** Screens and actions, which need no request. */
  readonly known: readonly Entry[];
  readonly palette: RolePalette;
  readonly onClose: () => void;
}): ReactElement {
  const [text, setText] = useState("");
  const records = useRecords(palette, text.trim(), onClose);
  const entries = [...matching(known, text), ...records.entries];
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="palette">
          <Dialog.Title className="unseen">Search and commands</Dialog.Title>
          <Finder
            text={text}
            onText={setText}
            entries={entries}
            isSearching={records.isSearching}
          />
          {records.error !== null && <ProblemNotice error={records.error} />}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function useRecords(
  palette: RolePalette,
  text: string,
  onClose: () => void,
): {
  readonly entries: readonly Entry[];
  readonly isSearching: boolean;
  readonly error: Error | null;
} {
  const membership = useMembership();
  const [, go] = useLocation();
  const asked = useAfterPause(text);
  const isSought = text.length >= SOUGHT_LENGTH_MIN;
  const { data, error } = useQuery({
    queryKey: [membership.membershipId, "palette", asked],
    enabled: asked.length >= SOUGHT_LENGTH_MIN,
    queryFn: async ({ signal }) => await palette.find(membership, asked, signal),
  });
  // Answers to an earlier text are not shown, because Enter would open one of them.
  const found = isSought && asked === text ? (data ?? []) : [];
  return {
    entries: found.map(({ kind, title, detail, path }) => ({
      key: path,
      group: `${kind}s`,
      title,
      detail,
      path,
      run: () => {
        onClose();
        go(membership.base + path);
      },
    })),
    isSearching: isSought && error === null && (asked !== text || data === undefined),
    error: isSought ? error : null,
  };
}

function useAfterPause(text: string): string {
  const [late, setLate] = useState(text);
  useEffect(() => {
    const isWhole = kindOf(text) === "click" || kindOf(text) === "conversion";
    const timer = setTimeout(() => setLate(text), isWhole ? 0 : PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return late;
}

function Finder({
  text,
  onText,
  entries,
  isSearching,
}: {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly entries: readonly Entry[];
  readonly isSearching: boolean;
}): ReactElement {
  const id = useId();
  const [chosen, setChosen] = useState(0);
  // Enter after pasting: the answer is opened when it comes.
  const [awaited, setAwaited] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  // The dialog moves the focus only a moment later: letters typed until then would go to what had the focus before.
  useLayoutEffect(() => input.current?.focus(), []);
  const at = Math.min(chosen, Math.max(0, entries.length - 1));
  const first = entries[0];
  useEffect(() => {
    if (awaited === text && !isSearching) first?.run();
  }, [awaited, text, isSearching, first]);
  const press = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") setChosen(stepped(at, 1, entries.length));
    else if (event.key === "ArrowUp") setChosen(stepped(at, -1, entries.length));
    else if (event.key !== "Enter") return;
    else if (entries.length === 0) setAwaited(text);
    else entries[at]?.run();
    event.preventDefault();
  };
  return (
    <>
      <div className="palette-input">
        <Search size={16} aria-hidden />
        <input
          ref={input}
          role="combobox"
          aria-label="Search"
          aria-expanded
          aria-autocomplete="list"
          aria-controls={`${id}-list`}
          aria-activedescendant={entries.length === 0 ? undefined : `${id}-${at}`}
          placeholder="Search, or paste an ID"
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={(event) => {
            onText(event.currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={press}
        />
        <kbd>Esc</kbd>
      </div>
      <Entries id={id} entries={entries} at={at} onPoint={setChosen} />
      <p className="palette-state" role="status">
        {isSearching
          ? "Searching"
          : entries.length === 0
            ? "Nothing found"
            : `${entries.length} found`}
      </p>
    </>
  );
}

function Entries({
  id,
  entries,
  at,
  onPoint,
}: {
  readonly id: string;
  readonly entries: readonly Entry[];
  readonly at: number;
  readonly onPoint: (at: number) => void;
}): ReactElement {
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [id, at]);
  const places = new Map(entries.map((entry, place) => [entry, place]));
  return (
    <div id={`${id}-list`} role="listbox" aria-label="Found" className="palette-list">
      {grouped(entries).map(([group, members]) => (
        <div key={group} role="group" aria-label={group}>
          <p className="group" aria-hidden>
            {group}
          </p>
          {members.map((entry) => {
            const place = places.get(entry) ?? 0;
            return (
              <button
                key={entry.key}
                id={`${id}-${place}`}
                type="button"
                role="option"
                tabIndex={-1}
                aria-selected={place === at}
                className="palette-entry"
                onMouseMove={() => onPoint(place)}
                onClick={entry.run}
              >
                <span className="palette-title">
                  <StrangerText text={entry.title} />
                </span>
                <span className="muted">
                  <StrangerText text={entry.detail} />
                </span>
              </button>
            );
          })}
        </div>
      ))}
    </div>
  );
}
