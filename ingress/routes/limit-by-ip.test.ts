import { expect, test } from "vitest";
import { parseTrustedProxies } from "../../schemas/net/forwarded-for.ts";
import { aRequest } from "../../test/samples/a-request.ts";
import type { Answer } from "../route.ts";
import { limitByIp } from "./limit-by-ip.ts";

const OK: Answer = { status: 200, headers: [], body: "ok" };
const BODY = new Uint8Array(0);

type Refused = Parameters<Parameters<typeof limitByIp>[1]["refused"]>;

function routes(
  ipRequestsPerMinute: number,
  refused: (...refusals: Refused) => void = () => undefined,
): ReturnType<typeof limitByIp> {
  const clock = { nowMs: () => 0 };
  const trustedProxies = parseTrustedProxies(["10.0.0.0/8"]);
  return limitByIp(
    {
      sync: ["/c/:key", "/health"].map((pattern) => ({
        pattern,
        methods: ["GET"],
        route: () => ({ answer: OK }),
      })),
      async: [
        {
          pattern: "/pb",
          methods: ["POST"],
          bodyBytesMax: 1,
          tooLarge: OK,
          busy: OK,
          route: () => Promise.resolve({ answer: OK }),
        },
      ],
      wrongMethod: new Map(),
    },
    { ipRequestsPerMinute, trustedProxies, clock, refused },
  );
}

test("an address is limited over all paths together, and gets the time to come back (G152)", async () => {
  const { sync, async } = routes(2);
  const request = aRequest({ peerIp: "203.0.113.1" });
  expect(sync[0]?.route(request).answer.status).toBe(200);
  const second = await async[0]?.route(request, BODY, new AbortController().signal);
  expect(second?.answer.status).toBe(200);
  const third = sync[0]?.route(request).answer;
  expect(third?.status).toBe(429);
  expect(third?.headers).toContainEqual(["Retry-After", "30"]);
  const fourth = await async[0]?.route(request, BODY, new AbortController().signal);
  expect(fourth?.answer.status).toBe(429);
});

test("the visitor's address counts, not that of the proxy (G152)", () => {
  const { sync } = routes(1);
  const from = (xForwardedFor: string): number | undefined =>
    sync[0]?.route(aRequest({ peerIp: "10.0.0.1", headers: { xForwardedFor } })).answer.status;
  expect([from("203.0.113.1"), from("203.0.113.1"), from("203.0.113.2")]).toEqual([200, 429, 200]);
});

test("health is never limited, and by default nothing is (G152)", () => {
  const request = aRequest({ peerIp: "203.0.113.1" });
  const limited = routes(1).sync[1];
  const unlimited = routes(0).sync[0];
  for (let i = 0; i < 10; i += 1) {
    expect(limited?.route(request).answer.status).toBe(200);
    expect(unlimited?.route(request).answer.status).toBe(200);
  }
});

test("each refusal of an address is reported with its path (#23)", async () => {
  const refusals: Refused[] = [];
  const { sync, async } = routes(1, (...one) => refusals.push(one));
  const request = aRequest({ peerIp: "203.0.113.1" });
  sync[0]?.route(request);
  expect(refusals).toEqual([]);
  sync[0]?.route(request);
  await async[0]?.route(request, BODY, new AbortController().signal);
  const refusal = { cause: "rate_limited", httpStatus: 429 };
  expect(refusals).toEqual([
    ["/c/:key", request, refusal],
    ["/pb", request, refusal],
  ]);
});
