import { LAST_PROMISE, NOT_BUILT, nameOfPromise, PROMISES } from "../promise-list.ts";
import type { PromiseResult } from "./result-file.ts";

const SEEDS = 2;

/** The table of figures in Markdown, from full-size results alone. A promise without a result is `not run`. */
export function figureTable(results: readonly PromiseResult[]): string {
  const seeds = newestSeeds(results);
  const columns = Array.from({ length: SEEDS }, (_, at) => column(results, seeds[at]));
  const heads = Array.from({ length: SEEDS }, (_, at) =>
    seeds[at] === undefined ? "no second run" : `seed ${seeds[at]}`,
  );
  if (seeds.length === 0) heads[0] = "no run";
  const cells = [
    ["promise", ...heads.flatMap((head) => [head, "cases", "violations", "time", "commit"])],
    ["---", ...heads.flatMap(() => ["---", "---:", "---:", "---:", "---"])],
    ...Array.from({ length: LAST_PROMISE }, (_, at) => [
      nameOfPromise(at + 1),
      ...columns.flatMap((found) => resultCells(at + 1, found.get(at + 1))),
    ]),
    ["**all**", ...columns.flatMap((found) => totalCells([...found.values()]))],
  ];
  const table = cells.map((row) => `| ${row.join(" | ")} |`).join("\n");
  return [table, ...failures(results, seeds)].join("\n\n");
}

/** Seeds with which at least half of the promises were run, newest first, then the others: one promise run alone makes no column. */
function newestSeeds(results: readonly PromiseResult[]): string[] {
  const seeds = [...new Set(results.toSorted(byDate).map(({ seed }) => seed))].reverse();
  const isWhole = (seed: string): boolean =>
    2 * new Set(results.filter((one) => one.seed === seed).map(({ promise }) => promise)).size >=
    PROMISES.length;
  return [...seeds.filter(isWhole), ...seeds.filter((seed) => !isWhole(seed))].slice(0, SEEDS);
}

/** For each promise the newest result that passed, or the newest of all if none passed. */
function column(
  results: readonly PromiseResult[],
  seed: string | undefined,
): ReadonlyMap<number, PromiseResult> {
  const found = new Map<number, PromiseResult>();
  for (const result of results.filter((one) => one.seed === seed).toSorted(byDate)) {
    const before = found.get(result.promise);
    if (result.outcome === "passed" || before?.outcome !== "passed") {
      found.set(result.promise, result);
    }
  }
  return found;
}

function resultCells(number: number, result: PromiseResult | undefined): string[] {
  if (result === undefined) return [NOT_BUILT[number] ?? "not run", "", "", "", ""];
  const { outcome, tests, skipped, cases, violations, seconds, commit } = result;
  return [
    skipped === 0 ? outcome : `${outcome} (${skipped} of ${tests} tests skipped)`,
    cases.toLocaleString("en"),
    violations.toLocaleString("en"),
    minutes(seconds),
    commit,
  ];
}

function totalCells(found: readonly PromiseResult[]): string[] {
  const sum = (of: (result: PromiseResult) => number): number =>
    found.reduce((total, result) => total + of(result), 0);
  const passed = found.filter(({ outcome }) => outcome === "passed").length;
  if (found.length === 0) return ["not run", "", "", "", ""];
  return [
    `${passed} of ${PROMISES.length} passed, ${Object.keys(NOT_BUILT).length} not built`,
    sum(({ cases }) => cases).toLocaleString("en"),
    sum(({ violations }) => violations).toLocaleString("en"),
    minutes(sum(({ seconds }) => seconds)),
    [...new Set(found.map(({ commit }) => commit))].join(", "),
  ];
}

/** Failed runs with the seeds shown, so that a later run that passed does not hide them. */
function failures(results: readonly PromiseResult[], seeds: readonly string[]): string[] {
  const failed = results
    .filter(({ seed, outcome }) => seeds.includes(seed) && outcome === "failed")
    .map(
      ({ promise, seed, violations, commit, date }) =>
        `- ${nameOfPromise(promise)}, seed ${seed}, commit ${commit}, ${date.slice(0, 16)} UTC: ${violations} violations`,
    );
  return failed.length === 0 ? [] : ["Runs with these seeds that failed:", failed.join("\n")];
}

function byDate(a: PromiseResult, b: PromiseResult): number {
  return Date.parse(a.date) - Date.parse(b.date);
}

function minutes(seconds: number): string {
  return seconds < 60 ? `${seconds.toFixed(0)} s` : `${(seconds / 60).toFixed(1)} min`;
}

const [BEGIN, END] = ["<!-- figures: begin -->", "<!-- figures: end -->"];

/** The text with a new table between its two marks. @throws if a mark is missing. */
export function withTable(text: string, results: readonly PromiseResult[]): string {
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`no ${BEGIN} … ${END} in the text`);
  return `${text.slice(0, from)}${BEGIN}\n\n${figureTable(results)}\n\n${text.slice(to)}`;
}
