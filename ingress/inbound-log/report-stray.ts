import { QUERY_LINK_PARAMETERS } from "../request/parameters.ts";
import type { RawRequest } from "../route.ts";
import { pairsOf, type RefusalDeps, reportRefusal } from "./report-refusal.ts";

/** First parts of our paths. */
const PATHS: ReadonlySet<string> = new Set(
  "r c s i click clk pb postback conversion px px.gif px.js px.html lp sdk.js".split(" "),
);
/** Parameters of reports that other requests rarely have. */
const REPORTS: ReadonlySet<string> = new Set(
  "click_id transaction_id tid txid adv_txid order_id conversion_id token aff_id affiliate_id".split(
    " ",
  ),
);

/** Logs a visit whose link names no offer or partner, with no other parameter than these two: the rest may identify a person (P31). */
export function reportUnknownLink(
  deps: RefusalDeps,
  request: RawRequest,
  httpStatus: number,
): void {
  const named = pairsOf(request.query).filter(([name]) => {
    const slot = QUERY_LINK_PARAMETERS.slots.get(name)?.slot;
    return slot === "offer" || slot === "affiliate";
  });
  const params = { path: request.path, ...Object.fromEntries(named) };
  const call = { endpoint: "link", result: "unknown_link", message: "unknown_link" } as const;
  reportRefusal(deps, request, { ...call, httpStatus, params });
}

/** Logs a request without a route, if its path or its parameters show that it was meant for us: the others are of scanners. */
export function reportUnknownPath(
  deps: RefusalDeps,
  request: RawRequest,
  httpStatus: number,
): void {
  const first = /^\/*([^/]*)/.exec(request.path)?.[1] ?? "";
  const isOurs = PATHS.has(first.toLowerCase());
  if (!isOurs && !pairsOf(request.query).some(([name]) => REPORTS.has(name))) return;
  const params = { path: request.path };
  const call = { endpoint: "path", result: "unknown_path", message: "not_found" } as const;
  reportRefusal(deps, request, { ...call, httpStatus, params });
}
