import type { ReactElement } from "react";
import { rangeParams, readPeriod } from "../address/period.ts";
import { useAddress } from "../address/use-address.ts";
import { useMembership } from "../member/membership.ts";
import { PeriodBar } from "./period-bar.tsx";

const NONE = { preset: undefined, from: undefined, to: undefined };

/** The range of a list. It is in the address. */
export function RangeBar(): ReactElement {
  const { zone } = useMembership();
  const [search, change] = useAddress();
  const { period } = readPeriod(search);
  return (
    <PeriodBar
      period={period}
      zone={zone}
      isCompared={false}
      onChange={(to) => change({ ...NONE, ...rangeParams(to) })}
    />
  );
}
