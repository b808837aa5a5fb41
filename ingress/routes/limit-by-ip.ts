import type { TrustedProxies } from "../../schemas/net/forwarded-for.ts";
import type { Clock } from "../../schemas/time/clock.ts";
import { clientIp } from "../request/client-ip.ts";
import { IpLimit } from "../request/ip-limit.ts";
import type { Answer, AsyncRoute, RawRequest } from "../route.ts";
import type { ServerOptions } from "../server.ts";
import { linkError } from "./click-answers.ts";

type Routes = Pick<ServerOptions, "sync" | "async" | "wrongMethod">;

/** For balancers; visitors have no reason to request it. */
const UNLIMITED = "/health";
const LIMITED = "rate_limited";

/**
 * Answers 429 to an address that asks more often than `ipRequestsPerMinute` (G152); 0 means no limit and costs nothing. Calls
 * `refused` for each refusal, so that refused reports get their row in the inbound log.
 */
export function limitByIp(
  routes: Routes,
  options: {
    readonly ipRequestsPerMinute: number;
    readonly trustedProxies: TrustedProxies;
    readonly clock: Clock;
    readonly refused: ServerOptions["refused"];
  },
): Routes {
  const { ipRequestsPerMinute: perMinute, trustedProxies, clock, refused } = options;
  if (perMinute === 0) return routes;
  const limit = new IpLimit(perMinute);
  const refusalOf = (pattern: string, request: RawRequest): Answer | undefined => {
    const waitMs = limit.take(clientIp(request, trustedProxies), clock.nowMs());
    if (waitMs === 0) return undefined;
    const answer = rateLimited(waitMs);
    refused(pattern, request, { cause: LIMITED, httpStatus: answer.status });
    return answer;
  };
  return {
    wrongMethod: routes.wrongMethod,
    sync: routes.sync.map((entry) => {
      if (entry.pattern === UNLIMITED) return entry;
      return {
        ...entry,
        route: (request) => {
          const answer = refusalOf(entry.pattern, request);
          return answer === undefined ? entry.route(request) : { answer, reason: LIMITED };
        },
      };
    }),
    async: routes.async.map((entry) => {
      const limited =
        (route: AsyncRoute): AsyncRoute =>
        (request, body, signal) => {
          const answer = refusalOf(entry.pattern, request);
          if (answer === undefined) return route(request, body, signal);
          return Promise.resolve({ answer, reason: LIMITED });
        };
      const { route, busy } = entry;
      return {
        ...entry,
        route: limited(route),
        busy: typeof busy === "function" ? limited(busy) : busy,
      };
    }),
  };
}

function rateLimited(waitMs: number): Answer {
  return linkError(429, LIMITED, ["Retry-After", String(Math.ceil(waitMs / 1_000))]);
}
