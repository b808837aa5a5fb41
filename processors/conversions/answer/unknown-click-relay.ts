import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import { offersNamed } from "../../../schemas/catalog/named-records.ts";
import type { Offer, Workspace } from "../../../schemas/catalog/records.ts";
import type { PostbackRequest } from "../../../schemas/events/postback-request.ts";
import { SECRET_PARAMS } from "../../../schemas/events/report-aliases.ts";
import type { Log } from "../../../schemas/host/log.ts";
import type { Origin } from "../read/resolve-target.ts";
import { type Handled, refusal } from "../report/postback-answer.ts";
import { UNAVAILABLE } from "../report/refusal.ts";
import type { Report } from "../report/report-params.ts";
import { mayActFor } from "../report/sender.ts";

/** How a request leaves the service; implemented in schemas/outgoing. */
export type Outgoing = {
  send(request: {
    readonly url: URL;
    readonly method: "GET";
    readonly headers: Readonly<Record<string, string>>;
    readonly timeoutMs: number;
  }): Promise<{ readonly status: number }>;
};

/** A report about a click that this installation does not know. */
type UnknownClickReport = {
  readonly rawReport: PostbackRequest;
  readonly report: Report;
  readonly origin: Origin;
};

/** Ingress waits 7 s for the whole answer. A relay that it no longer waits for must not continue. */
const TIMEOUT_MS = 6_000;
/** Limit for relays in progress, so that a destination that hangs does not use up the capacity for other reports. */
const UNDER_WAY_MAX = 100;
/** Marks a report as relayed. Ingress does not relay such a report again, so two settings that point at each other make no loop. */
const VIA = "1.1 tracker-relay";

/**
 * Relays reports about unknown clicks to the URL that a workspace has configured (G117). When a traffic control forwards visitors to an
 * offer on another system, their conversions carry click ids of that system. Off while `forward_unknown_url` is empty.
 */
export class UnknownClickRelay {
  readonly #catalog: Catalog;
  readonly #outgoing: Outgoing;
  readonly #log: Log;
  #underWay = 0;

  constructor(deps: {
    readonly catalog: Catalog;
    readonly outgoing: Outgoing;
    readonly log: Log;
  }) {
    this.#catalog = deps.catalog;
    this.#outgoing = deps.outgoing;
    this.#log = deps.log;
  }

  /** Undefined when the report is not relayed: then its click is simply unknown. */
  async relay(incoming: UnknownClickReport): Promise<Handled | undefined> {
    const { report, rawReport } = incoming;
    const workspace = this.#workspaceThatForwards(incoming);
    if (workspace === undefined) return undefined;
    const ids = { workspaceId: workspace.id, clickId: report.clickId };
    if (report.isTest) return forwarded(ids, { isTest: true });
    const isTaken = await this.#send(workspace, rawReport.params);
    return isTaken ? forwarded(ids, { isTest: false }) : refusal(UNAVAILABLE, ids);
  }

  /** The workspace of the token, if it relays reports and forwards visitors to an offer that the report may be about. */
  #workspaceThatForwards({ rawReport, report, origin }: UnknownClickReport): Workspace | undefined {
    const { sender } = origin;
    if (sender.kind === "pixel" || report.clickId === undefined || rawReport.isRelayed === true)
      return undefined;
    const { workspace } = sender;
    if (workspace.forward_unknown_url === "" || workspace.status !== "active") return undefined;
    const { offerCode } = report;
    const named =
      offerCode === undefined ? undefined : offersNamed(this.#catalog, [workspace.id], offerCode);
    const isMeant = (offer: Offer): boolean =>
      mayActFor(sender, offer.advertiser_id) &&
      (named === undefined || named.some(({ id }) => id === offer.id));
    return this.#offersForwardedTo(workspace).some(isMeant) ? workspace : undefined;
  }

  /** Includes offers of paused controls: they may have forwarded visitors earlier. */
  #offersForwardedTo({ id }: Workspace): Offer[] {
    const offers: Offer[] = [];
    for (const control of this.#catalog.trafficControls.values()) {
      if (control.workspace_id !== id || control.action !== "forward") continue;
      const offer = this.#catalog.offers.get(control.forward_offer_id ?? 0);
      if (offer !== undefined) offers.push(offer);
    }
    return offers;
  }

  /** False when the destination did not accept the report: the sender repeats it (P15). */
  async #send(workspace: Workspace, params: PostbackRequest["params"]): Promise<boolean> {
    const url = relayUrl(workspace.forward_unknown_url, params);
    if (url === undefined) {
      // Do not log the URL: it may contain a token of the destination.
      this.#log.error({ workspace: workspace.id }, "conversions.relay-url-is-none");
      return false;
    }
    if (this.#underWay >= UNDER_WAY_MAX) return false;
    this.#underWay += 1;
    try {
      const headers = { via: VIA, "user-agent": "tracker" };
      const { status } = await this.#outgoing.send({
        url,
        method: "GET",
        headers,
        timeoutMs: TIMEOUT_MS,
      });
      if (status >= 200 && status < 300) return true;
      this.#log.warn({ workspace: workspace.id, status }, "conversions.relay-refused");
    } catch (error) {
      this.#log.warn({ err: error, workspace: workspace.id }, "conversions.relay-failed");
    } finally {
      this.#underWay -= 1;
    }
    return false;
  }
}

/**
 * The relay URL: the setting's own parameters, then the report's. If both have a parameter, the setting's value wins. Our token is left out
 * because it authorises calls to us, and e-mail and telephone leave the service hashed or not at all (P31, PB-020). Undefined if the
 * setting is not a URL.
 */
export function relayUrl(setting: string, params: PostbackRequest["params"]): URL | undefined {
  if (!URL.canParse(setting)) return undefined;
  const url = new URL(setting);
  const passed = Object.entries(params).filter(
    ([name]) => !SECRET_PARAMS.includes(name) && !url.searchParams.has(name),
  );
  const query = [url.search.slice(1), new URLSearchParams(passed).toString()];
  url.search = query.filter((part) => part !== "").join("&");
  return url;
}

function forwarded(
  ids: { readonly workspaceId: number; readonly clickId: string | undefined },
  { isTest }: { readonly isTest: boolean },
): Handled {
  const body = { ok: true, status: "forwarded", forwarded: true };
  return {
    reply: {
      httpStatus: 200,
      result: isTest ? "test" : "forwarded",
      body: isTest ? { ...body, conversion_id: null, test: true } : body,
    },
    ...ids,
    conversionId: undefined,
    message: "",
  };
}
