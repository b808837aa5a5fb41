import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress, type Page, type Query } from "../../client/lists.ts";
import { formatPeriod } from "../../format/time.ts";
import type { Membership } from "../../member/membership.ts";

export type Statement = components["schemas"]["Statement"];
export type StatementWithLines = components["schemas"]["StatementWithLines"];
export type StatementLine = components["schemas"]["StatementLine"];
export type StatementEntry = components["schemas"]["StatementEntry"];

/** Keys of cached answers that change with a statement. */
export const STATEMENT_NAMES = [
  "statements",
  "statement",
  "statement-entries",
  "balances",
  "payout-due",
];

/** Where a role reads statements: partners their own. */
export function isOwn({ role }: Pick<Membership, "role">): boolean {
  return role === "partner";
}

export async function listStatements(
  membership: Membership,
  query: Query,
  signal: AbortSignal,
): Promise<Page<Statement>> {
  const params = { query: fromAddress(query) };
  const { api } = membership;
  return isOwn(membership)
    ? await read(api.GET("/me/statements", { params, signal }))
    : await read(api.GET("/statements", { params, signal }));
}

export async function getStatement(
  membership: Membership,
  id: number,
  signal: AbortSignal,
): Promise<StatementWithLines> {
  const params = { path: { id } };
  const { api } = membership;
  const { data } = isOwn(membership)
    ? await read(api.GET("/me/statements/{id}", { params, signal }))
    : await read(api.GET("/statements/{id}", { params, signal }));
  return data;
}

export async function listEntries(
  membership: Membership,
  { id, line }: { readonly id: number; readonly line: number },
  { query, signal }: { readonly query: Query; readonly signal: AbortSignal },
): Promise<Page<StatementEntry>> {
  const params = { path: { id, line }, query: fromAddress(query) };
  const { api } = membership;
  return isOwn(membership)
    ? await read(api.GET("/me/statements/{id}/lines/{line}/entries", { params, signal }))
    : await read(api.GET("/statements/{id}/lines/{line}/entries", { params, signal }));
}

/** Where a role finds the list below its membership. */
export function listOf(membership: Pick<Membership, "role">): {
  readonly path: string;
  readonly title: string;
} {
  return { path: isOwn(membership) ? "/statements" : "/money/statements", title: "Statements" };
}

export function periodText({ period }: Pick<Statement, "period">): string {
  return formatPeriod(period, period.tz);
}

const KINDS: Readonly<Record<StatementLine["kind"], string>> = {
  conversions: "Conversions",
  clicks: "Clicks",
  bonus: "Bonus",
  deduction: "Deduction",
  correction: "Correction",
  bounty: "Bounty",
  opening: "Opening balance",
  write_off: "Write-off",
  clawback: "Clawback",
  reversal: "Reversal",
};

/** Such as "Clawback of S-2026-0004". */
export function kindText({
  kind,
  of_statement_number: number = null,
}: Pick<StatementLine, "kind"> & { readonly of_statement_number?: string | null }): string {
  return number === null ? KINDS[kind] : `${KINDS[kind]} of ${number}`;
}
