import type { ServerResponse } from "node:http";
import { createServer } from "node:net";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { type DeliveryRow, DeliveryWorld } from "./delivery-world.ts";

const world = await forThisFile(DeliveryWorld.open());
world.startLane();
beforeEach(() => world.receiver.answer((response) => void response.end()));

/** The delivery of one conversion to a postback with these fields, once it has ended. */
async function failed(
  fields: Record<string, unknown>,
  params = {},
): Promise<DeliveryRow | undefined> {
  const offerId = await world.tracking.addOffer();
  await world.addPostback(offerId, fields);
  const [row] = await world.settled(await world.convert(offerId, {}, params));
  return row;
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

describe("attempts that are repeated (PBO-023, PBO-024)", () => {
  test("500, then 200: two requests with the same id and the same URL", async () => {
    let requests = 0;
    world.receiver.answer((response) => {
      requests += 1;
      response.writeHead(requests === 1 ? 500 : 200).end("ok");
    });
    const row = await failed({ url: world.url("twice?t={timestamp}&r={random}") });
    expect(row).toMatchObject({ status: "delivered", attempts: 2, error: "", response_body: "ok" });
    const [first, second] = world.arrived("twice");
    expect(second?.target).toBe(first?.target);
    expect(second?.headers["x-tracker-delivery"]).toBe(row?.id);
  });

  test.each([
    [400, "HTTP 400 Bad Request"],
    [404, "HTTP 404 Not Found"],
    [410, "HTTP 410 Gone"],
    [503, "HTTP 503 Service Unavailable"],
    [304, "HTTP 304 Not Modified"],
  ])("answer %i is logged as %s and repeated until the schedule ends", async (status, error) => {
    world.receiver.answer((response) => response.writeHead(status).end());
    const row = await failed({ url: world.url(`status${status}`) });
    expect(row).toMatchObject({ status: "failed", attempts: 4, error, response_status: status });
    expect(world.arrived(`status${status}`)).toHaveLength(4);
  });

  test("a refused connection is logged as `connection refused` (PBO-033)", async () => {
    const row = await failed({ url: `http://127.0.0.1:${await closedPort()}/` });
    expect(row).toMatchObject({ status: "failed", attempts: 4, error: "connection refused" });
  });

  test("a name that does not exist is a DNS error", async () => {
    const row = await failed({ url: "http://nowhere.invalid/" });
    expect(row).toMatchObject({ status: "failed", attempts: 4, error: "DNS error" });
  });

  test("no answer within 10 s is logged as `timeout`; others are served meanwhile (PBO-033, G126)", async () => {
    // The first attempt is never answered, the second slowly: until then the row has the result of the first.
    let attempts = 0;
    world.receiver.answer((response, { target }) => {
      if (!target.startsWith("/hang")) response.end();
      else if (++attempts > 1) setTimeout(() => response.end(), 1_000);
    });
    const offerId = await world.tracking.addOffer();
    await world.addPostback(offerId, { url: world.url("hang") });
    const id = await world.convert(offerId);
    await until("the request hangs", () => world.arrived("hang").length > 0, { pollMs: 20 });
    const startedAtMs = Date.now();
    expect(await failed({ url: world.url("quick") })).toMatchObject({ status: "delivered" });
    expect(Date.now() - startedAtMs).toBeLessThan(5_000);
    const row = await until(
      "the attempt is given up",
      async () => (await world.deliveries(id)).find(({ error }) => error !== ""),
      { timeoutMs: 13_000 },
    );
    expect(row).toMatchObject({ status: "retrying", error: "timeout" });
    expect(Date.now() - startedAtMs).toBeGreaterThan(8_000);
    expect(await world.settled(id)).toMatchObject([{ status: "delivered" }]);
  }, 30_000);

  test("Retry-After is respected (G126)", async () => {
    const answers = [429, 200];
    world.receiver.answer(
      (response) => void response.writeHead(answers.shift() ?? 200, { "retry-after": "2" }).end(),
    );
    expect(await failed({ url: world.url("later") })).toMatchObject({
      status: "delivered",
      attempts: 2,
    });
    const [first, second] = world.arrived("later").map(({ atMs }) => atMs);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1_950);
  });

  test("the first 2 KiB of an answer are stored (G126)", async () => {
    world.receiver.answer((response) => response.writeHead(200).end("x".repeat(10_000)));
    const row = await failed({ url: world.url("long") });
    expect(row?.response_body).toBe("x".repeat(2_048));
  });
});

describe("failures without a retry", () => {
  test.each([
    "{sub1}",
    "ftp://a.example/",
    "/relative",
    "http://",
    "a.example/x",
    "https:a.example",
  ])("%s is `invalid postback URL` (PBO-025)", async (url) => {
    const row = await failed({ url }, { sub1: "http://a.example/" });
    expect(row).toMatchObject({ status: "failed", error: "invalid postback URL" });
  });

  test("a postback that cannot be delivered fails with its reason (PBO-032)", async () => {
    expect(await failed({ kind: "html", body: "<img>" })).toMatchObject({
      status: "failed",
      error: "HTML postbacks need an iframe or script pixel",
    });
    expect(await failed({ kind: "capi" })).toMatchObject({
      status: "failed",
      error: "conversion API delivery is not configured",
    });
  });
});

describe("redirects (PBO-028)", () => {
  /** Redirects that begin at /chain/0 and end at /chain/<length>. */
  const chain =
    (length: number, status = 302) =>
    (response: ServerResponse, { target }: { target: string }) => {
      const at = Number(/^\/chain\/(\d+)/.exec(target)?.[1] ?? length);
      if (at < length) response.writeHead(status, { location: `/chain/${at + 1}` }).end();
      else response.end("end");
    };

  test("three are followed", async () => {
    world.receiver.answer(chain(3));
    expect(await failed({ url: world.url("chain/0") })).toMatchObject({
      status: "delivered",
      attempts: 1,
      response_body: "end",
      url: world.url("chain/0"),
    });
  });

  test("a fourth ends the delivery", async () => {
    world.receiver.answer(chain(4));
    const before = world.arrived("chain").length;
    expect(await failed({ url: world.url("chain/0") })).toMatchObject({
      status: "failed",
      attempts: 1,
      error: "stopped after 3 redirects",
    });
    expect(world.arrived("chain").length - before).toBe(4);
  });

  test.each(["ftp://a.example/", "file:///etc/passwd", "javascript:alert(1)", "http://"])(
    "one to %s is refused",
    async (location) => {
      world.receiver.answer((response) => response.writeHead(302, { location }).end());
      expect(await failed({ url: world.url("away") })).toMatchObject({
        status: "failed",
        attempts: 1,
        error: "redirect to a non-http(s) URL",
      });
    },
  );

  test.each([
    [303, "GET", ""],
    [307, "POST", "a=1"],
  ])("%i repeats a POST as %s", async (status, method, body) => {
    const before = world.arrived("chain").length;
    world.receiver.answer(chain(1, status));
    await failed({ url: world.url("chain/0"), method: "POST", body: "a=1" });
    expect(world.arrived("chain").slice(before).at(-1)).toMatchObject({ method, body });
  });
});

describe("without ALLOW_PRIVATE_DESTINATIONS (PBO-026, PBO-027, G127, T60)", () => {
  beforeAll(async () => {
    await world.stopLanes();
    world.startLane({ allowLoopback: false });
  });

  test.each(["http://10.0.0.1/", "http://localhost/"])(
    "%s is `destination address not allowed`, without a retry",
    async (url) => {
      expect(await failed({ url })).toMatchObject({
        status: "failed",
        attempts: 1,
        error: "destination address not allowed",
      });
    },
  );
});
