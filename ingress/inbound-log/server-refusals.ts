import type { ServerOptions, ServerRefusal } from "../server.ts";
import { type Refusal, type RefusalDeps, reportRefusal } from "./report-refusal.ts";
import { reportUnknownPath } from "./report-stray.ts";

/** Paths whose calls belong in the inbound log. */
const ENDPOINTS: Readonly<Record<string, Refusal["endpoint"]>> = {
  "/pb": "pb",
  "/postback": "pb",
  "/conversion": "pb",
  "/px": "px",
  "/px.gif": "px",
  "/px.html": "px",
  "/px.js": "px.js",
  "/lp": "lp",
};

type RouteRefusal = Exclude<ServerRefusal["cause"], "not_found">;

const REFUSALS: Readonly<Record<RouteRefusal, Pick<Refusal, "result" | "message">>> = {
  wrong_method: { result: "method_not_allowed", message: "method not allowed" },
  too_large: { result: "malformed", message: "request body too large" },
  ambiguous: { result: "malformed", message: "bad_request" },
  length_required: { result: "malformed", message: "length_required" },
  too_many: { result: "unavailable", message: "too many requests wait" },
  failed: { result: "error", message: "internal_error" },
  rate_limited: { result: "rate_limited", message: "rate_limited" },
};

/** Sends to the inbound log what the server refused itself, before any route ran. */
export function serverRefusals(deps: RefusalDeps): ServerOptions["refused"] {
  return (pattern, request, { cause, httpStatus }) => {
    if (cause === "not_found") {
      reportUnknownPath(deps, request, httpStatus);
      return;
    }
    const endpoint = ENDPOINTS[pattern];
    if (endpoint !== undefined)
      reportRefusal(deps, request, { endpoint, httpStatus, ...REFUSALS[cause] });
  };
}
