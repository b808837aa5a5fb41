import { expect, test } from "vitest";
import { compareHostile, HOSTILE_BUDGET } from "../../bench/hostile.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";

/** CI runs some patterns briefly; the full run sends each for ten minutes at 2,000 clicks a second. */
const CLICKS = IS_FULL ? 1_200_000 : 20_000;
const LONG_CLICKS = IS_FULL ? 60_000 : 3_000;
const REPORTS = IS_FULL ? 20_000 : 2_000;
const IN_CI = [
  "equal gclid on one offer",
  "one visitor of an offer with the duplicate rule",
  "24 KB of noise in the query, by the byte",
];
const FULL_TIMEOUT_MS = 6 * 3_600_000;
const TIMEOUT_MS = 290_000;

test("no traffic costs ingress or the writer more than 1.5 times the normal mix (P40, #0)", {
  timeout: IS_FULL ? FULL_TIMEOUT_MS : TIMEOUT_MS,
}, async (context) => {
  const compared = compareHostile({
    requestsOf: ({ baseline, isByByte }) => {
      if (baseline !== "clicks") return REPORTS;
      return isByByte === true ? LONG_CLICKS : CLICKS;
    },
    isWanted: ({ name }) => IS_FULL || IN_CI.includes(name),
    // Padding fills the memory of one lane's writer after some 16,000 clicks. At full size the clicks alone fill every lane's.
    padding: IS_FULL ? 0 : 7,
  });
  const wrong: string[] = [];
  for await (const { pattern, requests, ratio, costs, normal, differences } of compared) {
    const violations = [...differences];
    if (ratio > HOSTILE_BUDGET) {
      const figures = JSON.stringify({ costs, normal: normal.costs });
      violations.push(`${pattern.name} costs ${ratio.toFixed(2)} times the normal mix: ${figures}`);
    }
    process.stdout.write(`P40 ${pattern.name}: ${requests} requests, ${ratio.toFixed(2)}\n`);
    reportCases(context, { cases: requests, violations: violations.length });
    wrong.push(...violations);
  }
  expect(wrong).toEqual([]);
});
