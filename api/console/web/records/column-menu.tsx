import { Popover } from "@base-ui/react/popover";
import { ArrowDown, ArrowUp, Columns3 } from "lucide-react";
import { type ReactElement, useEffect, useRef, useState } from "react";
import { useDensity } from "../look/density.ts";
import { useOwnLook } from "../look/use-own-look.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import type { ColumnChoice } from "./use-columns.ts";

/** Chooses the columns of a list and their order, and the height of the rows. */
export function ColumnMenu({ choice }: { readonly choice: ColumnChoice }): ReactElement {
  return (
    <Popover.Root>
      <Popover.Trigger className="button">
        <Columns3 size={14} aria-hidden /> Columns
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner className="above" sideOffset={6} align="end">
          <Popover.Popup className="popup wide">
            <Popover.Title className="popup-title">Columns</Popover.Title>
            {choice.error !== null && (
              <ProblemNotice
                error={choice.error}
                advice="The columns stay as they are until you leave this screen."
              />
            )}
            <ColumnRows choice={choice} />
            <DenseRows />
            <div className="row">
              <button
                type="button"
                className="button"
                disabled={!choice.isChosen}
                onClick={choice.reset}
              >
                Reset columns
              </button>
            </div>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

type Move = { readonly name: string; readonly by: -1 | 1 };

function ColumnRows({ choice }: { readonly choice: ColumnChoice }): ReactElement {
  const list = useRef<HTMLUListElement>(null);
  const [last, setLast] = useState<Move>();
  const { places, titles } = choice;
  useEffect(() => {
    // The row was taken to its new place, which takes the focus from its button.
    if (last === undefined) return;
    const buttons = (by: number): HTMLButtonElement | null | undefined =>
      list.current?.querySelector<HTMLButtonElement>(`[data-move="${last.name} ${by}"]:enabled`);
    (buttons(last.by) ?? buttons(-last.by))?.focus();
  }, [last]);
  const move = (name: string, by: -1 | 1): void => {
    choice.move(name, by);
    setLast({ name, by });
  };
  const place = places.findIndex(({ name }) => name === last?.name);
  return (
    <>
      <ul ref={list} className="plain-list column-list">
        {places.map(({ name, isShown }, at) => (
          <li key={name}>
            <label>
              <input
                type="checkbox"
                checked={isShown}
                disabled={at === 0}
                onChange={() => choice.toggle(name)}
              />
              {titles[name]}
            </label>
            <MoveButton
              move={{ name, by: -1 }}
              title={titles[name] ?? name}
              isOff={at <= 1}
              onMove={move}
            />
            <MoveButton
              move={{ name, by: 1 }}
              title={titles[name] ?? name}
              isOff={at === 0 || at === places.length - 1}
              onMove={move}
            />
          </li>
        ))}
      </ul>
      <span className="unseen" role="status">
        {last !== undefined &&
          `${titles[last.name] ?? ""}: column ${place + 1} of ${places.length}`}
      </span>
    </>
  );
}

function MoveButton({
  move: { name, by },
  title,
  isOff,
  onMove,
}: {
  readonly move: Move;
  readonly title: string;
  readonly isOff: boolean;
  readonly onMove: (name: string, by: -1 | 1) => void;
}): ReactElement {
  const label = `Move ${title} ${by < 0 ? "up" : "down"}`;
  const Arrow = by < 0 ? ArrowUp : ArrowDown;
  return (
    <button
      type="button"
      className="button plain icon"
      data-move={`${name} ${by}`}
      aria-label={label}
      title={label}
      disabled={isOff}
      onClick={() => onMove(name, by)}
    >
      <Arrow size={14} aria-hidden />
    </button>
  );
}

/** For all tables of the console. */
function DenseRows(): ReactElement {
  const density = useDensity();
  const { save, error } = useOwnLook();
  return (
    <>
      {error !== null && <ProblemNotice error={error} />}
      <label className="row">
        <input
          type="checkbox"
          checked={density === "dense"}
          onChange={() => save({ table_density: density === "dense" ? "comfortable" : "dense" })}
        />
        Dense rows in all tables
      </label>
    </>
  );
}
