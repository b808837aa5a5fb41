import { reportUnknownLink } from "../inbound-log/report-stray.ts";
import { serverRefusals } from "../inbound-log/server-refusals.ts";
import type { Answer, AsyncEntry, SyncEntry } from "../route.ts";
import type { ServerOptions, ServerRefusal } from "../server.ts";
import { clickRoutes } from "./click.ts";
import { HOST_ANSWER, linkError, methodNotAllowed, ROBOTS_ANSWER } from "./click-answers.ts";
import type { ClickDeps } from "./click-deps.ts";
import { healthAnswer } from "./health.ts";
import { LANDING_PREFLIGHT } from "./landing-answers.ts";
import { type LandingDeps, landingRoute } from "./landing-click.ts";
import { type LandingScript, landingScriptRoute } from "./landing-script.ts";
import { limitByIp } from "./limit-by-ip.ts";
import { pixelScriptRoute } from "./pixel-script.ts";
import { htmlPixelRoute, type PostbackDeps, pixelRoute, postbackRoute } from "./postback.ts";
import { serverClickRoutes } from "./server-click.ts";

export type RouteDeps = ClickDeps &
  PostbackDeps &
  LandingDeps & {
    /** Whether clicks are decided and journaled (P6). */
    readonly isHealthy: () => boolean;
    readonly noteRefusal: (cause: ServerRefusal["cause"]) => void;
    readonly landingScript: LandingScript;
    /** For each address; 0 means no limit (G152). */
    readonly ipRequestsPerMinute: number;
  };

const READ_METHODS = ["GET", "HEAD"];

/** All paths of the tracking domain, and the answer of each path to a method that it does not accept. */
export function ingressRoutes(
  deps: RouteDeps,
): Pick<ServerOptions, "sync" | "async" | "wrongMethod" | "refused" | "trustedProxies"> {
  const wrongMethod = new Map<string, Answer>();
  const noteUnknownLink: ClickDeps["noteUnknownLink"] = (request, httpStatus) => {
    reportUnknownLink(deps, request, httpStatus);
  };
  const sync: SyncEntry[] = [
    ...clickRoutes({ ...deps, noteUnknownLink }),
    { pattern: "/", methods: READ_METHODS, route: () => ({ answer: HOST_ANSWER }) },
    { pattern: "/robots.txt", methods: READ_METHODS, route: () => ({ answer: ROBOTS_ANSWER }) },
    { pattern: "/lp", methods: ["OPTIONS"], route: () => ({ answer: LANDING_PREFLIGHT }) },
    { pattern: "/px.js", methods: READ_METHODS, route: pixelScriptRoute },
    {
      pattern: "/health",
      methods: READ_METHODS,
      route: () => ({ answer: healthAnswer(deps.isHealthy()) }),
    },
  ];
  const async: AsyncEntry[] = [];
  const tooLarge = linkError(413, "request body too large");
  const busy = linkError(503, "too many requests wait", ["Retry-After", "5"]);
  for (const entry of serverClickRoutes(deps)) async.push({ ...entry, tooLarge, busy });
  for (const { patterns, wrongMethod: answer, ...entry } of [
    postbackRoute(deps),
    pixelRoute(deps),
    htmlPixelRoute(deps),
    landingRoute(deps),
    landingScriptRoute(deps.landingScript),
  ]) {
    for (const pattern of patterns) {
      async.push({ pattern, ...entry });
      wrongMethod.set(pattern, answer);
    }
  }
  for (const { pattern } of [...sync, ...async]) {
    if (wrongMethod.has(pattern)) continue;
    const methods = [...sync, ...async].filter((entry) => entry.pattern === pattern);
    wrongMethod.set(pattern, methodNotAllowed(methods.flatMap((entry) => entry.methods)));
  }
  const report = serverRefusals(deps);
  const refused: ServerOptions["refused"] = (pattern, request, refusal) => {
    deps.noteRefusal(refusal.cause);
    report(pattern, request, refusal);
  };
  const { trustedProxies } = deps;
  const limited = limitByIp({ sync, async, wrongMethod }, { ...deps, refused });
  return { ...limited, refused, trustedProxies };
}
