import { expect, test } from "vitest";
import { forThisFile } from "../../../services/for-this-file.ts";
import { API_URL, ApiWorld } from "../api-world.ts";
import { makePerson, openAs, outcome, PASSWORD, PersonBrowser } from "./person-browser.ts";

const world = await forThisFile(ApiWorld.open());
const admin = await openAs(world, "cross@first.example", world.tenant, { role: "admin" });
const OFFER = {
  name: "Forged",
  destination_url: "https://shop.example/",
  payout: "1",
  revenue: "2",
  advertiser_id: world.tenant.advertiserId,
};

/** What a page of another site can make a browser send: the cookie as if SameSite did not exist. */
async function send(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): Promise<Response> {
  return await fetch(`${world.origin}/api/v1${path}`, {
    method,
    headers: { cookie: admin.cookie, ...headers },
    body: body ?? null,
  });
}

const MEMBERSHIP = { "x-tracker-membership": String(admin.membership) };
const JSON_BODY = { "content-type": "application/json" };

test.each<[string, string, Readonly<Record<string, string>>]>([
  ["a form: no header of the console", "401", { "sec-fetch-site": "same-origin", ...JSON_BODY }],
  ["fetch of another site", "403", { "sec-fetch-site": "cross-site", ...MEMBERSHIP, ...JSON_BODY }],
  ["a sibling domain", "403", { "sec-fetch-site": "same-site", ...MEMBERSHIP, ...JSON_BODY }],
  ["an address that was typed", "403", { "sec-fetch-site": "none", ...MEMBERSHIP, ...JSON_BODY }],
  [
    "a browser without Sec-Fetch-Site, other Origin",
    "403",
    { origin: "https://evil.example", ...MEMBERSHIP, ...JSON_BODY },
  ],
  [
    "Origin with the name as prefix",
    "403",
    { origin: `${API_URL}.evil.example`, ...MEMBERSHIP, ...JSON_BODY },
  ],
  [
    "Origin of http instead of https",
    "403",
    { origin: "http://api.example", ...MEMBERSHIP, ...JSON_BODY },
  ],
  ["Origin null, as of a sandboxed frame", "403", { origin: "null", ...MEMBERSHIP, ...JSON_BODY }],
  ["no Origin at all", "403", { ...MEMBERSHIP, ...JSON_BODY }],
  [
    "own Origin, but Sec-Fetch-Site says otherwise",
    "403",
    { origin: API_URL, "sec-fetch-site": "cross-site", ...MEMBERSHIP, ...JSON_BODY },
  ],
  [
    "a membership that is no id",
    "401",
    { "sec-fetch-site": "same-origin", "x-tracker-membership": "1 or 1", ...JSON_BODY },
  ],
  [
    "a text body, which needs no preflight",
    "415",
    { "sec-fetch-site": "same-origin", ...MEMBERSHIP, "content-type": "text/plain" },
  ],
])("a write with the cookie is refused: %s", async (_what, status, headers) => {
  const answer = await send("POST", "/offers", headers, JSON.stringify(OFFER));
  expect(String(answer.status)).toBe(status);
  const { rows } = await world.pool.query<{ offers: number }>({
    text: "select count(*)::integer as offers from offer where name = 'Forged'",
  });
  expect(rows).toEqual([{ offers: 0 }]);
});

test("the same write is accepted from the console's own page, with and without Sec-Fetch-Site", async () => {
  const body = JSON.stringify({ ...OFFER, name: "Own" });
  for (const from of [{ "sec-fetch-site": "same-origin" }, { origin: API_URL }]) {
    const answer = await send("POST", "/offers", { ...from, ...MEMBERSHIP, ...JSON_BODY }, body);
    expect(answer.status).toBe(201);
  }
});

test("reading with the cookie needs the header, and is refused to other sites", async () => {
  const statusOf = async (headers: Readonly<Record<string, string>>): Promise<number> =>
    (await send("GET", "/me", headers)).status;
  expect(await statusOf({})).toBe(401);
  expect(await statusOf({ "sec-fetch-site": "cross-site" })).toBe(401);
  expect(await statusOf({ "sec-fetch-site": "cross-site", ...MEMBERSHIP })).toBe(403);
  expect(await statusOf(MEMBERSHIP)).toBe(200);
});

test("no preflight is answered and no answer may be read by another origin", async () => {
  const preflight = await send("OPTIONS", "/offers", {
    origin: "https://evil.example",
    "access-control-request-method": "POST",
    "access-control-request-headers": "x-tracker-membership",
  });
  const read = await send("GET", "/me", { origin: "https://evil.example", ...MEMBERSHIP });
  for (const answer of [preflight, read])
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual(
      [],
    );
});

test("another site cannot sign somebody in or use a link, nor set a second cookie beside ours", async () => {
  const body = { email: "cross@first.example", password: PASSWORD };
  for (const path of ["/sign-in", "/one-time-links/redeem", "/sign-in/passkey/options"]) {
    const browser = new PersonBrowser(world.origin);
    const forged = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
    const answer = await browser.call("POST", path, { body, headers: forged });
    expect([path, outcome(answer)]).toEqual([path, "403 forbidden"]);
    expect(answer.headers.getSetCookie()).toEqual([]);
  }
  const twice = await admin.call("GET", "/me", {
    headers: { cookie: `${admin.cookie}; ${admin.cookie}` },
  });
  expect(outcome(twice)).toBe("401 sign_in_required");
});

test("the cookie of https is bound to the host, that of http to the API on this machine", async () => {
  await makePerson(world.pool, "cookie@first.example");
  const setBy = async (apiUrl: string): Promise<string> => {
    const browser = new PersonBrowser(await world.startAnother({ apiUrl }));
    const headers = { origin: apiUrl };
    const body = { email: "cookie@first.example", password: PASSWORD };
    const answer = await browser.call("POST", "/sign-in", { body, headers });
    return answer.headers.getSetCookie()[0]?.replace(/=[^;]*/, "") ?? outcome(answer);
  };
  expect(await setBy("https://api.example")).toBe(
    "__Host-trk_console; Max-Age=1209600; Path=/; Secure; HttpOnly; SameSite=Strict",
  );
  expect(await setBy("http://127.0.0.1:8081")).toBe(
    "trk_console; Max-Age=1209600; Path=/api/v1; HttpOnly; SameSite=Strict",
  );
  expect(await setBy("http://console.example")).toBe("403 forbidden");
});
