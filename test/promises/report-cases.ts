import type { TestContext } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Figures of a promise test, which `promise-reporter.ts` prints. */
    cases?: Cases;
  }
}

export type Cases = {
  /** How often the promise was checked: clicks answered, requests sent, kills survived. */
  readonly cases: number;
  /** Cases that broke it. The promise holds only at 0. */
  readonly violations: number;
};

/** True for `npm run promises`: each promise at its full size. */
export const IS_FULL = process.env["PROMISES_FULL"] === "1";

/** Adds the figures of a promise. Call it before the assertion, so that a failing promise prints them too. */
export function reportCases({ task }: Pick<TestContext, "task">, cases: Cases): void {
  const before = task.meta.cases ?? { cases: 0, violations: 0 };
  task.meta.cases = {
    cases: before.cases + cases.cases,
    violations: before.violations + cases.violations,
  };
}
