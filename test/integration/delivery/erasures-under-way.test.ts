import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { PostbackLog } from "../../../processors/conversions/answer/postback-log.ts";
import { addressForms } from "../../../schemas/erasure/address-forms.ts";
import { erase, repeatDueErasure, type Subject } from "../../../schemas/erasure/erasures.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { DeliveryWorld } from "./delivery-world.ts";

const IP = "198.51.100.23";
const EMAIL = "jane@shop.example";
const MINUTE_MS = 60_000;
const PATIENCE = { timeoutMs: 90_000, pollMs: 20 };
let visits = 0;

const world = await forThisFile(DeliveryWorld.open());
world.tracking.startWriters();
await world.tracking.change("update workspace set ip_storage = 'full'");
const offerId = await world.tracking.addOffer();

const stores = () => ({ db: world.tracking.pool, clickhouse: world.tracking.clickhouse });
async function eraseNow(subject: Subject) {
  return await erase(stores(), { workspaceId: world.tracking.workspaceId, subject });
}
function address(ip: string): Subject {
  const forms = addressForms(ip);
  if (forms === undefined) throw new Error(ip);
  return { kind: "ip", forms };
}

async function aVisit(of = offerId) {
  visits += 1;
  const gclid = `gclid-${visits}`;
  return await world.tracking.addClick({ offer_id: of, gclid, ip: IP });
}

async function conversionOf(clickId: string) {
  const [row] = await world.tracking.rows(
    `select host(conv_ip) as conv_ip, email_hash, phone_hash, report_fingerprint, click ->> 'gclid' as gclid, params, status
     from conversion where click_id = $1`,
    [clickId],
  );
  return row;
}

const CLEARED = {
  conv_ip: null,
  email_hash: null,
  phone_hash: null,
  report_fingerprint: null,
  gclid: null,
  status: "approved",
};

test("a report of an erased click is recorded without its visitor (#19, G207)", async () => {
  const click = await aVisit();
  await eraseNow({ kind: "click", clickId: click.click_id });
  // A processor may have read the click before its erasure.
  await world.tracking.storeClicks([click]);
  await world.tracking.report({
    click_id: click.click_id,
    email: EMAIL,
    phone: "+49 30 1",
    ip: IP,
  });
  expect(await conversionOf(click.click_id)).toMatchObject(CLEARED);
});

test("a report from before an erasure is recorded without the e-mail, its click erased (#19, G207)", async () => {
  const click = await aVisit();
  const early = Date.now() - MINUTE_MS;
  await eraseNow({ kind: "email", email: EMAIL });
  await world.tracking.report(
    { click_id: click.click_id, email: EMAIL, ip: IP },
    { receivedAtMs: early },
  );
  expect(await conversionOf(click.click_id)).toMatchObject(CLEARED);
  while (await repeatDueErasure(stores()));
  const answer = await world.tracking.clickhouse.query({
    query: "select ip, gclid from click where click_id = unhex({id:String})",
    query_params: { id: click.click_id },
    format: "JSONEachRow",
  });
  expect(await answer.json()).toEqual([{ ip: "", gclid: "" }]);
  // A later report of the person is stored with the e-mail's hash again.
  const later = await aVisit();
  await world.tracking.report({ click_id: later.click_id, email: EMAIL });
  expect((await conversionOf(later.click_id))?.["email_hash"]).toMatch(/^[0-9a-f]{64}$/);
});

test("a report from before the erasure of its address is recorded without it (#19, G207)", async () => {
  const [click, other] = [await aVisit(), await aVisit()];
  const early = { receivedAtMs: Date.now() - MINUTE_MS };
  await eraseNow(address("203.0.113.77"));
  const report = (clickId: string, ip: string) =>
    world.tracking.report({ click_id: clickId, ip, adv1: ip, adv2: "kept" }, early);
  await report(click.click_id, "203.0.113.77");
  await report(other.click_id, "203.0.113.177");
  expect(await conversionOf(click.click_id)).toMatchObject({
    conv_ip: null,
    report_fingerprint: null,
    params: { adv1: "", adv2: "kept" },
    gclid: click.gclid,
  });
  expect(await conversionOf(other.click_id)).toMatchObject({
    conv_ip: "203.0.113.177",
    params: { adv1: "203.0.113.177", adv2: "kept" },
  });
});

test("rows of the inbound log written after an erasure do not contain its values (#19, G207)", async () => {
  const { tracking } = world;
  const click = await aVisit();
  const call = (more: { ip: string; clickId: string | null; params: Record<string, string> }) => ({
    endpoint: "lp" as const,
    result: "gclid" as const,
    receivedAtMs: Date.now() - MINUTE_MS,
    workspaceId: tracking.workspaceId,
    httpStatus: 200,
    message: "",
    ...more,
  });
  await eraseNow({ kind: "click", clickId: click.click_id });
  await eraseNow(address("203.0.113.78"));
  const log = openLog({ process: "test", level: "silent" });
  const { pool, catalog } = tracking;
  const inbound = new PostbackLog({ pool, catalog, log });
  await inbound.keep([
    call({ ip: IP, clickId: click.click_id, params: { gclid: click.gclid, sub1: "a" } }),
    call({ ip: "203.0.113.78", clickId: null, params: { x: "203.0.113.78", sub1: "b" } }),
    call({ ip: IP, clickId: null, params: { gclid: "another", sub1: "c" } }),
  ]);
  const rows = await tracking.rows(
    "select host(ip) as ip, params from postback_log where endpoint = 'lp' order by id",
  );
  expect(rows).toEqual([
    { ip: null, params: { gclid: "", sub1: "a" } },
    { ip: null, params: { x: "", sub1: "b" } },
    { ip: IP, params: { gclid: "another", sub1: "c" } },
  ]);
});

test("a delivery during an erasure leaves no value in its log or retry (#19, G207)", async () => {
  const own = await world.tracking.addOffer();
  for (const path of ["slow", "again"])
    await world.addPostback(own, { url: world.url(`${path}?g={gclid}&ip={ip}`) });
  const held: (() => void)[] = [];
  world.receiver.answer((response, { target }) =>
    held.push(() =>
      response.writeHead(target.startsWith("/slow") ? 200 : 500).end(`seen ${target}`),
    ),
  );
  world.startLane();
  const click = await aVisit(own);
  const { body } = await world.tracking.report({ click_id: click.click_id });
  const id = String(body["conversion_id"]);
  await until("both requests have arrived", () => held.length === 2, PATIENCE);
  const [first] = world.arrived("again");
  expect(first?.target).toContain(click.gclid);
  await eraseNow({ kind: "click", clickId: click.click_id });
  world.receiver.answer((response) => response.end());
  for (const answer of held) answer();
  await world.settled(id);
  const [, retry] = world.arrived("again");
  expect(retry?.target).toBe("/again?g=&ip=");
  const rows = await world.tracking.rows<{ text: string }>(
    "select d::text as text from delivery d where conversion_id = $1 and status = 'delivered'",
    [id],
  );
  expect(rows).toHaveLength(2);
  expect(JSON.stringify(rows)).not.toContain(click.gclid);
});

test("an idempotency key keeps its answer after an erasure, but no fingerprint (#19, G203)", async () => {
  const click = await aVisit();
  const report = { click_id: click.click_id, email: EMAIL, amount: "5", idempotency_key: "k-1" };
  const first = await world.tracking.report(report);
  expect(first.body).toMatchObject({ ok: true });
  const kept = async () => {
    const [row] = await world.tracking.rows<{ fingerprint: Buffer; text: string }>(
      "select fingerprint, k::text as text from report_key k where key = 'k-1'",
    );
    return row;
  };
  // 128 bits keyed with the secret of the installation: the row contains no plain hash of the e-mail.
  expect((await kept())?.fingerprint).toHaveLength(16);
  const hash = createHash("sha256").update(EMAIL).digest("hex");
  for (const value of [EMAIL, hash, hash.slice(0, 32)])
    expect((await kept())?.text).not.toContain(value);

  await eraseNow({ kind: "click", clickId: click.click_id });
  expect((await kept())?.fingerprint).toHaveLength(0);
  expect(await world.tracking.report(report)).toEqual(first);
  const conversions = await world.tracking.rows("select id from conversion where click_id = $1", [
    click.click_id,
  ]);
  expect(conversions).toHaveLength(1);
  expect(await conversionOf(click.click_id)).toMatchObject(CLEARED);
});
