import { expect, test } from "vitest";
import { parseTrustedProxies } from "../schemas/net/forwarded-for.ts";
import type { Tracing } from "../schemas/tracing/tracing.ts";
import { aRequestFor } from "../test/samples/a-request.ts";
import { RedirectTraces } from "./redirect-traces.ts";
import { ReceivedRequest } from "./request/received-request.ts";

function aRequest(): ReceivedRequest {
  const of = { pattern: "/r/:offer/:affiliate", showsId: false };
  return new ReceivedRequest(aRequestFor("/r/A/B"), of, parseTrustedProxies([]));
}

/** The number of spans after so many answers. */
async function spansOf(statuses: readonly number[]): Promise<number> {
  let spans = 0;
  const tracing: Tracing = {
    start: () => {
      spans += 1;
      return { traceparent: "", end: () => undefined };
    },
  };
  const traces = new RedirectTraces(tracing);
  for (const status of statuses) {
    const request = aRequest();
    traces.begin(request);
    traces.answered(request, status);
  }
  await new Promise((resolve) => setImmediate(resolve));
  return spans;
}

test("the first redirect has a span, and then one in 10,000", async () => {
  expect(await spansOf([302])).toBe(1);
  expect(await spansOf(Array<number>(10_000).fill(302))).toBe(1);
  expect(await spansOf(Array<number>(10_001).fill(302))).toBe(2);
  expect(await spansOf(Array<number>(30_001).fill(302))).toBe(4);
});

test("other answers have none and do not count", async () => {
  expect(await spansOf([404, 200, 503])).toBe(0);
  expect(await spansOf([404, ...Array<number>(10_000).fill(302), 404])).toBe(1);
});
