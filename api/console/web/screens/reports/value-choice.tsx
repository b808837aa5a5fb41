import type { ReactElement } from "react";
import type { CountedWithin } from "../../client/dimension-values.ts";
import type { Dimension } from "../../client/reports.ts";
import { formatCount } from "../../format/figure.ts";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { isNamed, useValueNames, useValues } from "./named-values.ts";

const SHOWN_MAX = 50;
const SEPARATOR = "|";

/** What a filter compares with: values that were chosen from the list, and what was typed. */
export type GivenValues = { readonly chosen: readonly string[]; readonly typed: string };

/** Finds values of a dimension by name, code or ID, those with most clicks first. Free text may be typed as well. */
export function ValueChoice({
  dimension,
  given: { chosen, typed },
  within,
  onChange,
}: {
  readonly dimension: Dimension;
  /** The rows that are counted; undefined for those of the last 30 days. */
  readonly within: CountedWithin | undefined;
  readonly given: GivenValues;
  readonly onChange: (given: GivenValues) => void;
}): ReactElement {
  const label = isNamed(dimension) ? `Find ${dimension.label}` : "Value; several with |";
  const names = useValueNames(dimension.name, chosen);
  const { values, isWhole } = useValues(dimension.name, lastOf(typed), within);
  // What is chosen stays in sight, also when the text that found it is gone.
  const shown = [
    ...chosen.map((value, at) => ({ value, label: names[at] ?? value, detail: "", clicks: 0 })),
    ...values.filter(({ value }) => !chosen.includes(value)).slice(0, SHOWN_MAX),
  ];
  const toggle = (value: string): void =>
    onChange({
      typed: "",
      chosen: chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value],
    });
  return (
    <>
      <input
        className="input"
        aria-label={label}
        placeholder={label}
        value={typed}
        onChange={(event) => onChange({ chosen, typed: event.currentTarget.value })}
      />
      <p className="muted">
        {within === undefined ? "Clicks of the last 30 days" : "Clicks in this report"}
      </p>
      <div className="pick-list" role="group" aria-label={dimension.label}>
        {shown.map(({ value, label: name, detail, clicks }) => (
          <label key={value}>
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={() => toggle(value)}
            />
            <span className="grow">
              <StrangerText text={name} />{" "}
              {detail !== "" && detail !== name && (
                <span className="muted">
                  <StrangerText text={detail} />
                </span>
              )}
            </span>
            {clicks > 0 && <span className="muted">{formatCount(clicks)}</span>}
          </label>
        ))}
        {shown.length === 0 && isWhole && <p className="muted">Nothing found.</p>}
      </div>
    </>
  );
}

function lastOf(typed: string): string {
  return typed.split(SEPARATOR).at(-1)?.trim() ?? "";
}

/** The values of the filter: what was chosen, and what was typed unless the dimension takes chosen ones only. */
export function valuesOf(dimension: Dimension, { chosen, typed }: GivenValues): string[] {
  if (isNamed(dimension) || typed === "") return [...chosen];
  return [...chosen, ...typed.split(SEPARATOR)];
}
