import { reasonWords } from "../../format/value-words.ts";
import type { AttentionItem } from "../../member/use-attention.ts";

/** Length of `2026-11-25`. */
const DAY_LENGTH = 10;

type Waiting = { readonly title: string; readonly path: (query: URLSearchParams) => string };

/** Where the rows of a number are. */
const WAITING: Readonly<Record<string, Waiting>> = {
  pending_affiliates: { title: "New partners", path: (query) => `/partners?${query.toString()}` },
  access_requests: { title: "Requests for access", path: () => "/inbox?status=pending" },
  pending_conversions: {
    title: "Pending conversions",
    path: (query) => {
      for (const end of ["from", "to"]) query.set(end, (query.get(end) ?? "").slice(0, DAY_LENGTH));
      return `/conversions?${query.toString()}`;
    },
  },
  disabled_postbacks: {
    title: "Postbacks switched off after failures",
    path: (query) => `/integrations?${query.toString()}`,
  },
  disabled_webhooks: {
    title: "Webhooks switched off after failures",
    path: () => "/integrations/webhooks",
  },
  caps: { title: "Caps nearly reached", path: () => "/inbox#caps" },
  uncertified_domains: { title: "Domains without certificate", path: () => "/workspace/domains" },
};

/** What waiting records are called, and the path of the screen that lists exactly these, below the membership. */
export function waitingPlace({ kind, query }: Pick<AttentionItem, "kind" | "query">): {
  readonly title: string;
  readonly path: string;
} {
  const known = WAITING[kind];
  if (known === undefined) return { title: kind.replaceAll("_", " "), path: "/inbox" };
  const reason = reasonWords(query["status_reason"] ?? "");
  return {
    title: reason === "" ? known.title : `${known.title}: ${reason}`,
    path: known.path(new URLSearchParams(query)),
  };
}
