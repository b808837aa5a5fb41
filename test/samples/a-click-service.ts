import { LocalClickState } from "../../ingress/decide/click-state.ts";
import { openDevices } from "../../ingress/request/device.ts";
import type { GeoFacts } from "../../ingress/request/geo.ts";
import type { RawRequest, RouteResult } from "../../ingress/route.ts";
import { clickRoutes } from "../../ingress/routes/click.ts";
import type { ClickDeps } from "../../ingress/routes/click-deps.ts";
import { ClickRecord } from "../../schemas/events/click-record.ts";
import { IMPRESSION_LANE } from "../../schemas/events/lanes.ts";
import { ClickIdMint } from "../../schemas/ids/click-id.ts";
import { parseTrustedProxies } from "../../schemas/net/forwarded-for.ts";
import { aCatalog, type CatalogParts, SECRET } from "./a-catalog.ts";
import { aRequestFor } from "./a-request.ts";

const NOWHERE: GeoFacts = {
  country: "",
  region: "",
  city: "",
  asn: 0,
  asName: "",
  isDatacenter: false,
};
/** Address ranges reserved for documentation, and where the tests locate them. */
const PLACES: Readonly<Record<string, Partial<GeoFacts>>> = {
  "192.0.2.": { country: "DE", region: "Berlin", city: "Berlin" },
  "198.51.100.": { country: "US", region: "California", city: "Mountain View" },
  "203.0.113.": { country: "NL", asn: 64_500, asName: "Cloud Hosting", isDatacenter: true },
};

export type ClickService = {
  readonly deps: ClickDeps;
  readonly state: LocalClickState;
  /** The time of the next click, UTC ms. */
  nowMs: number;
  readonly ask: (target: string, parts?: Parameters<typeof aRequestFor>[1]) => RouteResult;
  readonly askRaw: (request: RawRequest) => RouteResult;
};

/** The click routes over a catalog of these parts. Peers of 10.0.0.0/8 are trusted proxies. */
export function aClickService(parts: CatalogParts = {}, random?: () => number): ClickService {
  const catalog = aCatalog(parts);
  const state = new LocalClickState(catalog);
  const clock = { nowMs: () => service.nowMs };
  const mint = new ClickIdMint({ producer: 7, secret: SECRET, clock });
  const deps: ClickDeps = {
    catalog,
    mint: () => mint,
    trustedProxies: parseTrustedProxies(["10.0.0.0/8"]),
    devices: openDevices(),
    geo: { locate: (ip) => ({ ...NOWHERE, ...PLACES[ip.slice(0, ip.lastIndexOf(".") + 1)] }) },
    clock,
    state,
    ...(random === undefined ? {} : { random }),
  };
  const routes = new Map(
    clickRoutes(deps).map(({ pattern, route }) => [pattern.split("/")[1], route]),
  );
  const askRaw = (request: RawRequest): RouteResult => {
    const route = routes.get(request.path.split("/")[1]);
    if (route === undefined) throw new Error(`no route for ${request.path}`);
    return route(request);
  };
  const service: ClickService = {
    deps,
    state,
    nowMs: Date.UTC(2026, 5, 10, 12),
    askRaw,
    ask: (target, requestParts) => askRaw(aRequestFor(target, requestParts)),
  };
  return service;
}

/** The record of a click. @throws if none was recorded. */
export function recordOf(result: RouteResult): ClickRecord {
  const { recorded } = result;
  if (recorded === undefined || recorded.lane === IMPRESSION_LANE)
    throw new Error("no click was recorded");
  return ClickRecord.parse(JSON.parse(recorded.line));
}

/** Value of the first header with this name, or undefined. */
export function headerOf(result: RouteResult, name: string): string | undefined {
  return result.answer.headers.find(([known]) => known === name)?.[1];
}

/** The answer in one line: `302 https://…`, `403 {"error":"…"}`, `200 page`. */
export function answerLine(result: RouteResult): string {
  const { status, body } = result.answer;
  const location = headerOf(result, "Location");
  if (location !== undefined) return `${status} ${location}`;
  const text = typeof body === "string" ? body : "bytes";
  return `${status} ${text.startsWith("<!doctype") ? "page" : text}`;
}
