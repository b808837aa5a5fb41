import type { ReactElement } from "react";
import { PRESETS } from "../../../../schemas/time/presets.ts";
import { COMPARES, type Period } from "../address/period.ts";
import { keepOwnComparison } from "./own-comparison.ts";

const NAMES: Readonly<Record<string, string>> = {
  today: "Today",
  yesterday: "Yesterday",
  last7: "Last 7 days",
  last14: "Last 14 days",
  last30: "Last 30 days",
  last90: "Last 90 days",
  this_week: "This week",
  last_week: "Last week",
  this_month: "This month",
  last_month: "Last month",
  this_quarter: "This quarter",
  last_quarter: "Last quarter",
  this_year: "This year",
  last_year: "Last year",
  previous: "Previous period",
  previous_year: "Previous year",
};
const OWN = "own";

/** Chooses days, and what they are compared with. Everything is in the address, so a copied address shows the same. The choice of a comparison is remembered. */
export function PeriodBar({
  period,
  zone,
  isCompared = true,
  onChange,
}: {
  readonly period: Period;
  readonly zone: string;
  /** Whether it also chooses what the range is compared with. */
  readonly isCompared?: boolean;
  readonly onChange: (period: Period) => void;
}): ReactElement {
  const { range } = period;
  const days = "from" in range ? range : undefined;
  const choose = (chosen: string): void => {
    const preset = PRESETS.find((one) => one === chosen);
    if (preset !== undefined) onChange({ ...period, range: { preset } });
    else onChange({ ...period, range: { from: today(zone), to: today(zone) } });
  };
  return (
    <div className="row wrap">
      <label className="row">
        <span className="unseen">Range</span>
        <select
          className="select"
          value={days === undefined && "preset" in range ? range.preset : OWN}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          {PRESETS.map((preset) => (
            <option key={preset} value={preset}>
              {NAMES[preset]}
            </option>
          ))}
          <option value={OWN}>From … to …</option>
        </select>
      </label>
      {days !== undefined && (
        <>
          <DayField
            label="From"
            value={days.from}
            onChange={(from) => onChange({ ...period, range: ordered(from, days.to) })}
          />
          <DayField
            label="To"
            value={days.to}
            onChange={(to) => onChange({ ...period, range: ordered(days.from, to) })}
          />
        </>
      )}
      {isCompared && <CompareChoice period={period} onChange={onChange} />}
      <span className="muted">{zone}</span>
    </div>
  );
}

function CompareChoice({
  period,
  onChange,
}: {
  readonly period: Period;
  readonly onChange: (period: Period) => void;
}): ReactElement {
  return (
    <label className="row">
      <span className="muted">Compared with</span>
      <select
        className="select"
        value={period.compare ?? ""}
        onChange={(event) => {
          const chosen = COMPARES.find((one) => one === event.currentTarget.value);
          keepOwnComparison(chosen);
          onChange({ ...period, compare: chosen });
        }}
      >
        <option value="">No comparison</option>
        {COMPARES.map((name) => (
          <option key={name} value={name}>
            {NAMES[name]}
          </option>
        ))}
      </select>
    </label>
  );
}

function DayField({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (day: string) => void;
}): ReactElement {
  return (
    <label className="row">
      <span className="unseen">{label}</span>
      <input
        type="date"
        className="input"
        required
        value={value}
        onChange={(event) =>
          event.currentTarget.value !== "" && onChange(event.currentTarget.value)
        }
      />
    </label>
  );
}

function ordered(one: string, other: string): { readonly from: string; readonly to: string } {
  return one <= other ? { from: one, to: other } : { from: other, to: one };
}

/** Today in the zone, as YYYY-MM-DD. */
function today(zone: string): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone: zone }).format(new Date());
}
