import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Receiver, startReceiver } from "../outgoing/receiver.ts";
import { type Answer, ApiWorld, details, type Json, refusal } from "./api-world.ts";

const CLOSED_PORT = 9;
const Data = z.looseObject({});

const world = await forThisFile(ApiWorld.open());
/** Origin of a process that may connect to loopback; the first one may not. */
const loose = await world.startAnother({ allowLoopback: true });
const site = await forThisFile(startReceiver());
beforeEach(() => site.answer(asTracker));

/** Another party's tracker: it redirects to `url=` and from `/hops/3` to `/hops/2`; everything else is a page. */
function asTracker(response: Parameters<Parameters<Receiver["answer"]>[0]>[0]): void {
  const target = site.received.at(-1)?.target ?? "";
  const left = Number(/^\/hops\/(\d+)/.exec(target)?.[1] ?? 0);
  const url = new URL(target, at("/")).searchParams.get("url");
  if (left > 0) response.writeHead(302, { location: `/hops/${left - 1}` }).end();
  else if (url === null) response.writeHead(target.startsWith("/missing") ? 404 : 200).end("page");
  else response.writeHead(302, { location: url }).end();
}

function at(path: string): string {
  return `http://127.0.0.1:${site.port}${path}`;
}

async function follow(body: Json, origin = loose): Promise<Answer> {
  return await world.callAt(origin, "POST", "/ad-platform/test", { body });
}

async function report(body: Json): Promise<Json> {
  const { status, body: answer } = await follow(body);
  expect(status, JSON.stringify(answer)).toBe(200);
  return Data.parse(answer["data"]);
}

describe("a template is followed to its landing page (G185)", () => {
  test("with its tags and the suffix filled in, one hop after the other", async () => {
    const expected_url = at("/shop?a=1&k=template-test");
    const url = at(`/c/K?gclid=template-test&url=${encodeURIComponent(expected_url)}`);
    const data = await report({
      template: at("/c/K?gclid={gclid}&url={lpurl}"),
      final_url: at("/shop?a=1"),
      suffix: "k={keyword}",
    });
    expect(data).toMatchObject({
      ok: true,
      problems: [],
      matches: true,
      url,
      expected_url,
      final_url: expected_url,
      hops: [
        { url, status: 302 },
        { url: expected_url, status: 200 },
      ],
    });
    expect(site.received.at(-1)).toMatchObject({ target: "/shop?a=1&k=template-test" });
    expect(site.received.at(-1)?.headers["user-agent"]).toBe("Tracker-Template-Test/1.0");
  });

  test("a wrong destination is reported", async () => {
    const template = at(`/c/K?url=${encodeURIComponent(at("/other"))}&u={lpurl}`);
    expect(await report({ template, final_url: at("/shop") })).toMatchObject({
      ok: false,
      problems: ["wrong_destination"],
      matches: false,
      final_url: at("/other"),
    });
  });

  test.each([
    ["a redirect to another scheme (LIM-013)", "/c/K?url=ftp%3A%2F%2Fx%2F", "invalid_url", 1],
    ["a missing page (LIM-013)", "/c/K?url=/missing", "error_status", 2],
    ["a closed port (LIM-013)", `/c/K?url=http://127.0.0.1:${CLOSED_PORT}/`, "unreachable", 2],
  ])("%s", async (_what, path, problem, hops) => {
    const data = await report({ template: at(path), final_url: at("/shop") });
    expect(data).toMatchObject({ ok: false, problems: [problem] });
    expect(data["hops"]).toHaveLength(hops);
  });

  test("an invalid URL is not requested", async () => {
    const before = site.received.length;
    expect(await report({ template: "nonsense", final_url: at("/shop") })).toMatchObject({
      ok: false,
      problems: ["invalid_url"],
      final_url: null,
      hops: [],
      duration_ms: 0,
    });
    expect(site.received.length).toBe(before);
  });
});

describe("limits (LIM-013)", () => {
  test("a template that fills in to far more than any URL has a small answer (P40)", async () => {
    const final_url = `https://x.example/${"字".repeat(2_030)}`;
    const answer = await follow({ template: "{lpurl+3}".repeat(227), final_url });
    expect(answer.body).toMatchObject({ data: { ok: false, problems: ["invalid_url"], hops: [] } });
    expect(answer.text.length).toBeLessThan(100_000);
  });

  test("10 redirects are followed, the eleventh is too many", async () => {
    const final_url = at("/hops/0");
    const ten = await report({ template: at("/hops/10"), final_url });
    expect(ten).toMatchObject({ ok: true, problems: [], matches: true });
    expect(ten["hops"]).toHaveLength(11);
    const eleven = await report({ template: at("/hops/11"), final_url });
    expect(eleven).toMatchObject({ ok: false, problems: ["too_many_redirects"] });
    expect(eleven["hops"]).toHaveLength(11);
  });

  test("a chain of more than one second is slow, but works", async () => {
    site.answer((response) => {
      setTimeout(() => asTracker(response), 400);
    });
    const data = await report({ template: at("/hops/2"), final_url: at("/hops/0") });
    expect(data).toMatchObject({ ok: true, problems: ["slow"], matches: true });
    expect(data["duration_ms"]).toBeGreaterThan(1_000);
  });

  test("no answer within 5 seconds is unreachable", async () => {
    site.answer(() => undefined);
    const data = await report({ template: at("/c/K?url={lpurl}"), final_url: at("/shop") });
    expect(data).toMatchObject({ ok: false, problems: ["unreachable", "slow"] });
    expect(data["hops"]).toMatchObject([{ status: null }]);
    expect(data["duration_ms"]).toBeGreaterThan(4_900);
    expect(data["duration_ms"]).toBeLessThan(9_000);
  });
});

test("private addresses are never connected to (G127, G185)", async () => {
  await using inner = await startReceiver();
  for (const host of ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433"]) {
    const template = `http://${host}:${inner.port}/c/K?url={lpurl}`;
    const { body } = await follow({ template, final_url: "https://x.example/" }, world.origin);
    const data = { ok: false, problems: ["private_address"], hops: [{ status: null }] };
    expect(body).toMatchObject({ data });
  }
  expect(inner.connections()).toBe(0);
});

test.each([
  [{ final_url: "https://x.example/" }, "template"],
  [{ template: "", final_url: "https://x.example/" }, "template"],
  [{ template: "x".repeat(2_049), final_url: "https://x.example/" }, "template"],
  [{ template: "https://x.example/" }, "final_url"],
  [{ template: "https://x.example/", final_url: "foo" }, "final_url"],
  [{ template: "https://x.example/", final_url: "https://x/", platform: "x" }, "platform"],
])("%j is refused for %s (G185)", async (body, field) => {
  const answer = await follow(body);
  expect(refusal(answer)).toBe("400 validation_failed");
  expect(details(answer).fields).toHaveProperty(field);
});

test("staff may test, partners and advertisers may not (G185)", async () => {
  const body = { template: at("/hops/0"), final_url: at("/hops/0") };
  const { analyst, partner, advertiser } = world.tenant.keys;
  const ask = async (key: string) =>
    await world.callAt(loose, "POST", "/ad-platform/test", { key, body });
  expect((await ask(analyst)).status).toBe(200);
  for (const key of [partner, advertiser]) expect(refusal(await ask(key))).toBe("403 forbidden");
});
