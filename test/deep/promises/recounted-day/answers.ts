import type { Action, Answer, Entry } from "./ledger.ts";
import { units } from "./money.ts";
import type { Row } from "./row.ts";
import type { Status } from "./shop.ts";

export function statusOf(text: string | undefined): Status | undefined {
  return text === "approved" || text === "pending" || text === "rejected" ? text : undefined;
}

export function shown(
  row: Row,
  how: { readonly isUpdate?: boolean; readonly isTest: boolean },
): unknown {
  return {
    http: 200,
    ok: true,
    status: row.status,
    reason: row.reason,
    duplicate: row.isDuplicate,
    updated: how.isUpdate === true,
    test: how.isTest,
  };
}

export function moneyOf(row: Row | undefined): object {
  return row === undefined
    ? {}
    : {
        status: row.status,
        reason: row.reason,
        sale: `${row.sale}`,
        payout: `${row.payout}`,
        revenue: `${row.revenue}`,
      };
}

export function idOf({ body }: Answer): string {
  const id = body["conversion_id"] ?? body["id"];
  return typeof id === "string" ? id : "";
}

/** The parts of an answer that the ledger can predict. */
export function judged({ action, answer: { http, body } }: Entry): unknown {
  if (action.kind === "report") {
    if (body["ok"] !== true) return { http, ok: false };
    return {
      http,
      ok: true,
      status: body["status"],
      reason: body["reason"] ?? "",
      duplicate: body["duplicate"] === true,
      updated: body["updated"] === true,
      // The header of a pixel's answer does not contain it.
      test: isPixel(action.by) ? action.params["test"] === "1" : body["test"] === true,
    };
  }
  if (http >= 300) return { http };
  if (action.kind === "patch" && action.isBulk) {
    const { updated, not_found, skipped_duplicates } = body;
    return { http, updated, not_found, skipped_duplicates };
  }
  const amount = (name: string): string => `${units(String(body[name]))}`;
  return {
    http,
    status: body["status"],
    reason: body["status_reason"],
    sale: amount("sale_amount"),
    payout: amount("payout"),
    revenue: amount("revenue"),
  };
}

type Reported = Extract<Action, { kind: "report" }>;

export function malformed(by: Reported["by"]): unknown {
  return { http: isPixel(by) ? 200 : 400, ok: false };
}

export function namesStatus({ params, by }: Reported): boolean {
  return params["status"] !== undefined && !isPixel(by);
}

export function isPixel(by: Reported["by"]): boolean {
  return by === "pixel" || by === "script";
}
