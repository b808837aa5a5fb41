import type { FaultList } from "./fault-list.ts";

/** How far a run of an import is. */
export type ImportProgress = {
  readonly phase: "checking" | "writing";
  /** Rows that are checked. */
  readonly rows: number;
  /** Counts rows without faults. */
  readonly toCreate: number;
  readonly toUpdate: number;
  /** Rows that an earlier run of the same file has written. */
  readonly alreadyWritten: number;
  readonly created: number;
  readonly updated: number;
  /** Faulty rows that the writing has passed. */
  readonly leftOut: number;
  /** Faults of the check, and of rows that are refused only while they are written. */
  readonly faults: FaultList;
};

export type GrowingProgress = { -readonly [Name in keyof ImportProgress]: ImportProgress[Name] };

export function beginProgress(faults: FaultList): GrowingProgress {
  return {
    phase: "checking",
    rows: 0,
    toCreate: 0,
    toUpdate: 0,
    alreadyWritten: 0,
    created: 0,
    updated: 0,
    leftOut: 0,
    faults,
  };
}
