import { CHECKS } from "../schemas/checks/checks.ts";
import { withTable } from "./page-table.ts";

/** The page with the table of all checks between its two marks. @throws {Error} when they are missing. */
export function withChecksTable(page: string): string {
  const rows = CHECKS.map(({ id, at, remedy }) => `| ${id} | ${at.join(", ")} | ${remedy} |`);
  return withTable(page, "checks", [
    "| check | judged at | what to do |",
    "|---|---|---|",
    ...rows,
  ]);
}
