import { setImmediate as nextTurn } from "node:timers/promises";
import type { Catalog } from "../../schemas/catalog/catalog.ts";
import { pause } from "../../schemas/host/pause.ts";
import { ClickIdMint } from "../../schemas/ids/click-id.ts";
import type { Clock } from "../../schemas/time/clock.ts";
import { LocalClickState } from "../decide/click-state.ts";
import type { Pipeline } from "../journal/pipeline.ts";
import type { VisitReaders } from "../request/visit.ts";
import type { RawRequest, Route } from "../route.ts";
import { clickRoutes } from "../routes/click.ts";
import type { PlannedVisit } from "./plan-traffic.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** Records that may wait for JetStream before the next ones are made. */
const WAITING_MAX = 4_000;
const TURN_RECORDS = 200;
const LOOK_MS = 20;

/** A clock that stands where the planned traffic is. */
class PlannedClock implements Clock {
  atMs = 0;

  nowMs(): number {
    return this.atMs;
  }
}

/**
 * Answers planned requests with the routes of the tracking domain, and records what they decide, as a server would. It has no port: only
 * this program can set the time of its requests.
 */
export class DemoIngress {
  readonly #clock = new PlannedClock();
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #pipeline: Pipeline;
  readonly #host: string;

  constructor(options: {
    readonly catalog: Catalog;
    readonly pipeline: Pipeline;
    readonly producer: number;
    readonly readers: VisitReaders;
    readonly host: string;
    readonly random: SeededRandom;
  }) {
    const { catalog, producer, random, readers } = options;
    this.#pipeline = options.pipeline;
    this.#host = options.host;
    const clock = this.#clock;
    const mint = new ClickIdMint({ producer, secret: catalog.secret, clock });
    const routes = clickRoutes({
      ...readers,
      catalog,
      clock,
      state: new LocalClickState(catalog),
      mint: () => mint,
      random: () => random.next(),
    });
    this.#routes = new Map(
      routes.map(({ pattern, route }) => [pattern.split("/")[1] ?? "", route]),
    );
  }

  /** Answers the visits, which must be in the order of time. Returns the click ids, each at the place of its visit. */
  async answer(visits: readonly PlannedVisit[], signal: AbortSignal): Promise<string[]> {
    const clickIds: string[] = [];
    for (const [index, visit] of visits.entries()) {
      clickIds.push(await this.#answerOne(visit));
      if (index % TURN_RECORDS === 0) await nextTurn();
      while (this.#pipeline.depth > WAITING_MAX) await pause(LOOK_MS, signal);
      signal.throwIfAborted();
    }
    return clickIds;
  }

  /** Until ClickHouse has everything. */
  async untilStored(signal: AbortSignal): Promise<void> {
    while (this.#pipeline.lanes.some(({ unstored }) => unstored > 0)) {
      signal.throwIfAborted();
      await pause(LOOK_MS, signal);
    }
  }

  async #answerOne(visit: PlannedVisit): Promise<string> {
    this.#clock.atMs = visit.atMs;
    const request = requestOf(visit, this.#host);
    const route = this.#routes.get(request.path.split("/")[1] ?? "");
    if (route === undefined) throw new Error(`the tracking domain has no path ${request.path}`);
    const { recorded, clickId = "" } = route(request);
    const pending = recorded === undefined ? undefined : this.#pipeline.append(recorded);
    if (pending !== undefined) await new Promise<void>(pending);
    return clickId;
  }
}

function requestOf({ target, visitor }: PlannedVisit, host: string): RawRequest {
  const [path = "", query = ""] = target.split("?");
  return {
    method: "GET",
    path,
    query,
    peerIp: visitor.address,
    headers: {
      host,
      userAgent: visitor.userAgent,
      referer: visitor.referrer,
      accept: "",
      acceptLanguage: visitor.language,
      xForwardedFor: "",
      xForwardedProto: "",
      via: "",
      cookie: "",
      contentType: "",
      origin: "",
      ifNoneMatch: "",
      idempotencyKey: "",
      xRequestId: "",
      purpose: "",
      secFetchDest: "",
    },
    requestId: "",
  };
}
