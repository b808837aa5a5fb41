import type { OutgoingAnswer, OutgoingClient } from "../../../schemas/outgoing/outgoing-client.ts";
import { ForbiddenDestinationError } from "../../../schemas/outgoing/outgoing-failure.ts";
import { URL_CHARACTERS_MAX } from "./expand-template.ts";

/** Problems of a redirect chain. `slow` alone does not make the test fail. */
export const TEST_PROBLEMS = [
  "invalid_url",
  "private_address",
  "unreachable",
  "too_many_redirects",
  "error_status",
  "wrong_destination",
  "slow",
] as const;
export type TestProblem = (typeof TEST_PROBLEMS)[number];

export type Hop = {
  readonly url: string;
  /** Null when no answer came. */
  readonly status: number | null;
  readonly duration_ms: number;
};

export type Chain = {
  readonly problems: readonly TestProblem[];
  /** The requests in order. */
  readonly hops: readonly Hop[];
  /** The last URL of the chain; null if no request was made. */
  readonly final_url: string | null;
  readonly duration_ms: number;
};

export type ChainLimits = {
  readonly hopTimeoutMs: number;
  readonly redirectsMax: number;
  readonly slowAfterMs: number;
};

/** Timeout of one hop, number of redirects, and total time above which a chain is slow (LIM-013, G185). */
export const CHAIN_LIMITS: ChainLimits = {
  hopTimeoutMs: 5_000,
  redirectsMax: 10,
  slowAfterMs: 1_000,
};

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const ERROR_STATUS_MIN = 400;
const HEADERS = { "user-agent": "Tracker-Template-Test/1.0", accept: "*/*" };

/**
 * Follows redirects one by one, like a browser without scripts, and returns where they end. Each request goes only to a public
 * address, whatever the previous answer names (G185). Makes at most `redirectsMax` + 1 requests of `hopTimeoutMs` each.
 */
export async function followChain(
  outgoing: OutgoingClient,
  start: string,
  { hopTimeoutMs, redirectsMax, slowAfterMs }: ChainLimits,
): Promise<Chain> {
  const hops: Hop[] = [];
  const end = (problem?: TestProblem): Chain => {
    const durationMs = hops.reduce((sum, hop) => sum + hop.duration_ms, 0);
    const problems: TestProblem[] = problem === undefined ? [] : [problem];
    if (durationMs > slowAfterMs) problems.push("slow");
    return { problems, hops, final_url: hops.at(-1)?.url ?? null, duration_ms: durationMs };
  };
  let url = httpUrl(start);
  while (hops.length <= redirectsMax) {
    if (url === undefined) return end("invalid_url");
    const { hop, answer } = await ask(outgoing, url, hopTimeoutMs);
    hops.push(hop);
    if (typeof answer === "string") return end(answer);
    if (!REDIRECTS.has(answer.status) || answer.location === "")
      return end(answer.status >= ERROR_STATUS_MIN ? "error_status" : undefined);
    url = httpUrl(answer.location, url);
  }
  return end(url === undefined ? "invalid_url" : "too_many_redirects");
}

async function ask(
  outgoing: OutgoingClient,
  url: URL,
  timeoutMs: number,
): Promise<{ readonly hop: Hop; readonly answer: OutgoingAnswer | TestProblem }> {
  const startedMs = performance.now();
  const hopOf = (status: number | null): Hop => ({
    url: url.href,
    status,
    duration_ms: Math.round(performance.now() - startedMs),
  });
  try {
    const answer = await outgoing.send({ url, method: "GET", headers: HEADERS, timeoutMs });
    return { hop: hopOf(answer.status), answer };
  } catch (error) {
    // To the caller, any other network fault means that no server answers there.
    const isForbidden = error instanceof ForbiddenDestinationError;
    return { hop: hopOf(null), answer: isForbidden ? "private_address" : "unreachable" };
  }
}

function httpUrl(text: string, base?: URL): URL | undefined {
  if (text.length > URL_CHARACTERS_MAX || !URL.canParse(text, base?.href)) return undefined;
  const url = new URL(text, base?.href);
  return url.protocol === "https:" || url.protocol === "http:" ? url : undefined;
}
