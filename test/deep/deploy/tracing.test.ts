import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { OtlpTracing } from "../../../schemas/tracing/otlp-tracing.ts";
import { type Receiver, startReceiver } from "../../integration/outgoing/receiver.ts";
import { metricAt } from "../../services/metric-at.ts";
import { ClickLoad } from "../../system/click-load.ts";
import { opsPortsOf } from "../../system/ops-ports.ts";
import { type System, startSystem } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";
import { COLLECTOR_PROGRAM, type CollectedSpan, Collector, hasCollector } from "./collector.ts";
import { loadedModules, WITH_DEBUGGER } from "./loaded-modules.ts";

const HINT = hasCollector ? "" : " (skipped: deploy/checks/collector/check.sh builds it)";
const PROCESSES = ["ingress-0", "processors", "api"] as const;
const OPENTELEMETRY = /@opentelemetry/;
const WAIT = { timeoutMs: 90_000 };
const REDIRECTS_PER_SPAN = 10_000;
/** Values that only visitors and callers know. */
const CANARIES = {
  email: "canary.person@secret.example",
  phone: "+4915112345678",
  ip: "203.0.113.77",
  query: "canaryqueryvalue",
  key: "trk_canarywrongkey0123456789",
} as const;
const ATTRIBUTES = new Set([
  "tracker.request_id",
  "http.route",
  "http.request.method",
  "http.response.status_code",
  "tracker.endpoint",
  "tracker.result",
  "tracker.operation",
  "db.query.summary",
  "tracker.delivery_kind",
  "tracker.attempt",
]);
const Page = z.object({ data: z.array(z.looseObject({ id: z.union([z.int(), z.string()]) })) });

async function click(system: System): Promise<string> {
  const { headers } = await system.client.attempt(system.client.demo.links.affiliate);
  return /[0-9a-f]{32}/.exec(String(headers["location"]))?.[0] ?? "";
}

/** Reports a conversion of a new click under an ID of the proxy, which is returned. */
async function report(system: System): Promise<string> {
  const { tracking_url: tracking, postback_token: token } = system.client.demo;
  const requestId = `edge_${randomUUID()}`;
  const url = `${tracking}/pb?token=${token}&click_id=${await click(system)}`;
  const answer = await system.client.attempt(url, { "x-request-id": requestId });
  expect(answer.status).toBe(200);
  return requestId;
}

describe.skipIf(!hasCollector)(`a service with a collector${HINT}`, () => {
  let folder: string;
  let collector: Collector;
  let receiver: Receiver;
  let system: System;

  beforeAll(async () => {
    collector = await Collector.open(COLLECTOR_PROGRAM);
    receiver = await startReceiver();
    folder = await mkdtemp(join(tmpdir(), "tracker-tracing-"));
    const endpoint = join(folder, "endpoint");
    await writeFile(endpoint, `${collector.url}\n`);
    system = await startSystem({
      env: {
        ...WITH_DEBUGGER,
        OTEL_EXPORTER_OTLP_ENDPOINT_FILE: endpoint,
        ALLOW_PRIVATE_DESTINATIONS: "1",
      },
    });
    const url = `http://127.0.0.1:${receiver.port}`;
    const events = ["conversion.created", "conversion.updated"];
    await system.client.create("/webhooks", { name: "one", url: `${url}/hook`, events });
    const offers = Page.parse(await system.client.rest("/offers"));
    for (const { id } of offers.data)
      await system.client.create("/postbacks", { offer_id: id, url: `${url}/partner` });
  }, 900_000);

  afterAll(async () => {
    await system[Symbol.asyncDispose]();
    await receiver.close();
    await collector[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  async function rootOf(requestId: string, name: string): Promise<CollectedSpan> {
    return await collector.untilSpan(
      `${name} of ${requestId}`,
      (span) => span.name === name && span.attributes["tracker.request_id"] === requestId,
    );
  }

  test("a postback is one trace from ingress through Postgres to both deliveries", async () => {
    const requestId = await report(system);
    const root = await rootOf(requestId, "ingress.postback");
    expect(root).toMatchObject({ service: "tracker-ingress", parentSpanId: "", isFailed: false });
    expect(root.attributes).toMatchObject({
      "tracker.endpoint": "pb",
      "tracker.result": "approved",
    });
    const reported = await collector.untilChild("conversions.report", root);
    const recorded = await collector.untilChild("postgres.record", reported);
    const attempted = await until(
      "both attempts are in the trace",
      () => {
        const found = collector.spans.filter(
          ({ name, parentSpanId }) =>
            name === "delivery.attempt" && parentSpanId === recorded.spanId,
        );
        return found.length === 2 ? found : undefined;
      },
      WAIT,
    );
    expect(new Set(attempted.map(({ attributes }) => attributes["tracker.delivery_kind"]))).toEqual(
      new Set(["postback", "webhook"]),
    );
    for (const span of [reported, recorded, ...attempted]) {
      expect(span).toMatchObject({
        service: "tracker-processors",
        traceId: root.traceId,
        isFailed: false,
      });
      expect(span.attributes["tracker.request_id"]).toBe(requestId);
    }
    expect(root.seconds).toBeGreaterThanOrEqual(recorded.seconds);
  });

  test("a change by the API is one trace through the processors to its webhook", async () => {
    await report(system);
    const { base_url: api, keys } = system.client.demo;
    const conversion = Page.parse(await system.client.rest("/conversions")).data[0];
    const requestId = `api-${randomUUID()}`;
    const changed = await fetch(`${api}/conversions/${conversion?.id ?? ""}`, {
      method: "PATCH",
      body: JSON.stringify({ status: "rejected" }),
      headers: {
        authorization: `Bearer ${keys.admin}`,
        "content-type": "application/json",
        "x-request-id": requestId,
      },
    });
    expect(changed.status).toBe(200);
    const root = await rootOf(requestId, "api.request");
    expect(root).toMatchObject({ service: "tracker-api", parentSpanId: "" });
    expect(root.attributes).toMatchObject({
      "tracker.operation": "updateConversion",
      "http.route": "/api/v1/conversions/:id",
      "http.response.status_code": 200,
    });
    const command = await collector.untilChild("conversions.command", root);
    const recorded = await collector.untilChild("postgres.record", command);
    expect(await collector.untilChild("delivery.attempt", recorded)).toMatchObject({
      traceId: root.traceId,
    });
  });

  test("a report of the API shows the time in ClickHouse", async () => {
    const { base_url: api, keys } = system.client.demo;
    const requestId = `api-${randomUUID()}`;
    const headers = { authorization: `Bearer ${keys.admin}`, "x-request-id": requestId };
    const answer = await fetch(`${api}/reports?group_by=offer&preset=today`, { headers });
    expect(answer.status).toBe(200);
    const root = await rootOf(requestId, "api.request");
    const statement = await collector.untilSpan(
      "its statement",
      ({ parentSpanId, attributes }) =>
        parentSpanId === root.spanId && attributes["db.query.summary"] === "api.report",
    );
    expect(statement).toMatchObject({ name: "clickhouse.report", traceId: root.traceId });
    expect(root.seconds).toBeGreaterThanOrEqual(statement.seconds);
  });

  test("of redirects the first has a span, and then one in 10,000", async () => {
    const spans = (): CollectedSpan[] =>
      collector.spans.filter(({ name }) => name === "ingress.redirect");
    await collector.untilSpan("a redirect", ({ name }) => name === "ingress.redirect");
    const [first] = spans();
    expect(first?.attributes).toMatchObject({
      "http.route": "/r/:offer/:affiliate",
      "http.response.status_code": 302,
    });
    expect(first?.attributes["tracker.request_id"]).toMatch(/^[0-9a-f]{32}$/);
    const load = new ClickLoad(system.client.demo.links.affiliate.replace(/\?.*/, ""));
    load.start(16);
    await until("so many redirects are answered", () => load.answered.size >= REDIRECTS_PER_SPAN, {
      timeoutMs: 90_000,
    });
    await load.stop();
    await until("the second redirect is there", () => spans().length >= 2, WAIT);
    expect(load.answered.size).toBeLessThan(2 * REDIRECTS_PER_SPAN - 1_000);
    expect(spans()).toHaveLength(2);
  });

  test("no span contains an address, a query, a person or a secret (P31)", async () => {
    const { client } = system;
    const { tracking_url: tracking, base_url: api, links, postback_token: token } = client.demo;
    const { email, phone, ip, query, key } = CANARIES;
    const person = new URLSearchParams({ email, phone, ip, sub1: query }).toString();
    const from = { "x-forwarded-for": ip, referer: `https://shop.example/?q=${query}` };
    const clickId = await click(system);
    const calls: [string, Record<string, string>][] = [
      [`${links.affiliate.replace(/\?.*/, "")}?${person}`, from],
      [`${tracking}/pb?token=${token}&click_id=${clickId}&${person}`, from],
      [`${tracking}/px?click_id=${query}&${person}`, from],
      [`${api}/me?${person}`, { ...from, authorization: `Bearer ${key}` }],
      [`${api}/${query}/${encodeURIComponent(email)}`, { ...from, authorization: `Bearer ${key}` }],
      [
        `${api}/clicks?filters=sub1:${query}`,
        { ...from, authorization: `Bearer ${client.demo.keys.admin}` },
      ],
    ];
    for (const [url, headers] of calls) await client.attempt(url, headers);
    await rootOf(await report(system), "ingress.postback");
    const { text, spans } = collector;
    for (const canary of [...Object.values(CANARIES), token, client.demo.keys.admin])
      expect(text).not.toContain(canary);
    const names = new Set(spans.flatMap(({ attributes }) => Object.keys(attributes)));
    expect([...names].filter((name) => !ATTRIBUTES.has(name))).toEqual([]);
  });

  test("each process has loaded OpenTelemetry", async () => {
    for (const name of PROCESSES) {
      const modules = await loadedModules(system.dataDir, name);
      expect(
        modules.some((url) => OPENTELEMETRY.test(url)),
        name,
      ).toBe(true);
    }
  });

  test("without its collector the service goes on, counts what it drops and warns once", async () => {
    const ports = await opsPortsOf(system);
    const ingress = ports.get("ingress-0") ?? 0;
    const dropped = async (): Promise<number> =>
      await metricAt(ingress, "tracing_spans_dropped_total");
    expect(await dropped()).toBe(0);
    await collector.stop();
    for (let round = 0; round < 3; round += 1) {
      const before = await dropped();
      await report(system);
      await until("its span is dropped", async () => (await dropped()) > before, WAIT);
    }
    expect(await metricAt(ingress, "tracing_spans_waiting")).toBeLessThanOrEqual(2_048);
    const log = await readFile(join(system.dataDir, "logs", "ingress-0.log"), "utf8");
    expect(log.split('"tracing.spans-dropped"')).toHaveLength(2);
    await collector.start();
    expect(await rootOf(await report(system), "ingress.postback")).toBeDefined();
  });
});

test("without an endpoint no process loads one module of OpenTelemetry", async () => {
  await using system = await startSystem({ env: WITH_DEBUGGER });
  await report(system);
  await system.client.rest("/reports?group_by=offer&preset=today");
  for (const name of PROCESSES) {
    const modules = await loadedModules(system.dataDir, name);
    expect(
      modules.some((url) => url.includes("/.build/schemas/tracing/")),
      name,
    ).toBe(true);
    expect(
      modules.filter((url) => OPENTELEMETRY.test(url)),
      name,
    ).toEqual([]);
  }
});

describe("spans that cannot be sent", () => {
  const identity = {
    id: randomUUID(),
    role: "ingress",
    name: "test",
    host: "test",
    opsPort: 9_411,
    startedAtMs: 0,
  } as const;

  async function listening(server: Server): Promise<string> {
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server on TCP has such an address
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test("a collector that never answers costs 2,048 spans of memory and delays the end by 3 s", async () => {
    const endpoint = await listening(createServer(() => undefined));
    let dropped = 0;
    const events = { dropped: (spans: number) => (dropped += spans), sent: () => undefined };
    const tracing = new OtlpTracing({ endpoint, headers: undefined, identity, events });
    for (let n = 0; n < 10_000; n += 1) tracing.start("ingress.postback", { facts: {} }).end();
    expect([tracing.waiting, dropped]).toEqual([2_048, 10_000 - 2_048]);
    const startedAtMs = performance.now();
    await tracing.close();
    expect(performance.now() - startedAtMs).toBeLessThan(5_000);
  });

  test("each request to the collector has the headers of OTEL_EXPORTER_OTLP_HEADERS", async () => {
    const received: [string | undefined, IncomingHttpHeaders][] = [];
    const endpoint = await listening(
      createServer(({ url, headers }, response) => {
        received.push([url, headers]);
        response.end();
      }),
    );
    let sent = 0;
    const events = { dropped: () => undefined, sent: () => (sent += 1) };
    const headers = "authorization=Bearer%20one,x-tenant=two";
    const tracing = new OtlpTracing({ endpoint: `${endpoint}/otlp/`, headers, identity, events });
    tracing.start("ingress.postback", { facts: {} }).end();
    await tracing.close();
    expect([sent, tracing.waiting]).toEqual([1, 0]);
    expect(received).toMatchObject([
      ["/otlp/v1/traces", { authorization: "Bearer one", "x-tenant": "two" }],
    ]);
  });
});
