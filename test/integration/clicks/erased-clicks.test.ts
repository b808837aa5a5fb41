import { expect, test } from "vitest";
import { addressForms } from "../../../schemas/erasure/address-forms.ts";
import { erase, repeatDueErasure } from "../../../schemas/erasure/erasures.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { aClick, type ClickProducer } from "./click-producer.ts";
import { ClickWorld, type Writer } from "./click-world.ts";

const PATIENCE = { timeoutMs: 90_000, pollMs: 50 };
const LANE = 1;
const IP = "198.51.100.23";
const OTHER_IP = "198.51.100.123";
let producers = 20;

const world = await forThisFile(ClickWorld.open());
await world.pool.query({
  text: `insert into workspace (slug, name, postback_token) values ('acme', 'Acme', 'acme-token')`,
});
let writer: Writer = await world.startWriter();

function personal(gclid: string, ip: string) {
  return {
    offer_id: LANE,
    gclid,
    ip,
    user_agent: `Browser of ${gclid}`,
    asn: 64_500,
    referrer: `https://blog.example/"${gclid}"?é`,
    destination: `https://shop.example/?from=${ip}`,
    sub1: `kept ${gclid}`,
  };
}

/** A producer with these clicks in its journal. */
function journal(...clicks: ReturnType<typeof aClick>[]): ClickProducer {
  producers += 1;
  const producer = world.producer({ lane: LANE, producer: producers });
  producer.record(...clicks);
  return producer;
}

const stores = () => ({ db: world.pool, clickhouse: world.clickhouse });
const eraseClick = async (click: { click_id?: unknown }) =>
  await erase(stores(), {
    workspaceId: 1,
    subject: { kind: "click", clickId: String(click.click_id) },
  });
async function eraseIp(ip: string) {
  const forms = addressForms(ip);
  if (forms === undefined) throw new Error(ip);
  return await erase(stores(), { workspaceId: 1, subject: { kind: "ip", forms } });
}

/** The answer of the writer about a click in its memory. */
async function inMemory(click: { click_id?: unknown }): Promise<string> {
  const answer = await world.ask({ by: "id", shard: LANE, clickId: String(click.click_id) });
  return answer.clicks.join("\n");
}

async function byGclid(value: string): Promise<string> {
  const query = { by: "ad-click-id", shard: LANE, workspaceId: 1, kind: "gclid" } as const;
  return (await world.ask({ ...query, value, offerId: 0 })).clicks.join("\n");
}

async function inTable(): Promise<string> {
  return JSON.stringify(
    await world.facts(`select ip, user_agent, referrer, destination, gclid, asn, sub1 from click
      where _lane = ${LANE} order by ts, sub1`),
  );
}

test("an erased click loses its values in the writer's memory, others keep theirs (#19, G207)", async () => {
  const [erased, other] = [
    aClick(personal("erased-in-memory", IP)),
    aClick(personal("in-memory-beside", OTHER_IP)),
  ];
  const older = aClick({ ...personal("erased-in-memory", OTHER_IP), ts: Date.now() - 5_000 });
  const one = journal(older, other, erased);
  await one.shipAll();
  await world.untilSettled(one);
  expect(await inMemory(erased)).toContain(IP);
  expect(await byGclid("erased-in-memory")).toContain(String(erased["click_id"]));

  expect(await eraseClick(erased)).toMatchObject({ clicks: 1 });
  const row = await until(
    "the writer has cleared it",
    async () => {
      const text = await inMemory(erased);
      return text.includes(IP) ? undefined : text;
    },
    PATIENCE,
  );
  expect(JSON.parse(row)).toMatchObject({
    ip: "",
    gclid: "",
    user_agent: "",
    referrer: "",
    destination: "",
    asn: 0,
    sub1: "kept erased-in-memory",
    click_id: erased["click_id"],
    _producer: one.producer,
  });
  // The older click with the same ad ID belongs to another person.
  expect(await byGclid("erased-in-memory")).toContain(String(older["click_id"]));
  expect(await byGclid("in-memory-beside")).toContain(OTHER_IP);
});

test("a click that reaches the writer after its erasure is stored without its values (#19, G207)", async () => {
  const late = aClick(personal("late-gclid", IP));
  const lateIp = aClick(personal("late-ip", "203.0.113.77"));
  const near = aClick(personal("near-ip", "203.0.113.177"));
  expect(await eraseClick(late)).toMatchObject({ clicks: 0 });
  expect(await eraseIp("203.0.113.77")).toMatchObject({ clicks: 0 });
  const afterwards = aClick({ ...personal("afterwards", "203.0.113.77"), ts: Date.now() + 5 });
  const one = journal(late, lateIp, near, afterwards);
  // The writer learns of an erasure within a second: wait until it has, before the records are shipped.
  const known = aClick(personal("known", IP));
  const probe = journal(known);
  await probe.shipAll();
  await world.untilSettled(probe);
  await eraseClick(known);
  await until(
    "the writer has read the erasures",
    async () => !(await inMemory(known)).includes(IP),
    PATIENCE,
  );

  await one.shipAll();
  await world.untilSettled(one);
  for (const click of [late, lateIp])
    expect(JSON.parse(await inMemory(click))).toMatchObject({ ip: "", destination: "" });
  const stored = await inTable();
  expect(stored).not.toContain('late-gclid"?');
  expect(stored).not.toContain("Browser of late-gclid");
  expect(stored).toContain("kept late-gclid");
  expect(stored).toContain("Browser of late-ip");
  expect(stored).toContain("203.0.113.177");
  // A click after the erasure keeps its address: once in the column, once in the destination.
  expect(stored.split("203.0.113.77").length - 1).toBe(2);
  expect(await byGclid("late-gclid")).toBe("");
});

test("an erased address is removed from the writer's memory, also from texts (#19, G207)", async () => {
  const v6 = "2001:db8::77";
  const clicks = [
    aClick({
      ...personal("by-v6", v6),
      destination: `https://shop.example/?ip=${encodeURIComponent(v6)}`,
    }),
    aClick({ ...personal("in-text", OTHER_IP), referrer: `https://blog.example/?ip=${v6}&x=1` }),
    aClick(personal("beside-v6", "2001:db8:1::77")),
  ];
  const one = journal(...clicks);
  await one.shipAll();
  await world.untilSettled(one);
  expect(await eraseIp(v6)).toMatchObject({ clicks: 2 });
  const texts = await until(
    "the address is cleared",
    async () => {
      const all = await Promise.all(clicks.map(inMemory));
      return all.some((text) => /2001(:|%3A)db8(::|%3A%3A)77/i.test(text)) ? undefined : all;
    },
    PATIENCE,
  );
  expect(JSON.parse(texts[0] ?? "")).toMatchObject({ ip: "", gclid: "by-v6", destination: "" });
  expect(JSON.parse(texts[1] ?? "")).toMatchObject({ ip: OTHER_IP, referrer: "" });
  expect(texts[2]).toContain("2001:db8:1::77");
  expect(await inTable()).not.toMatch(/2001(:|%3A)db8(::|%3A%3A)77/i);
});

test("erased values do not return when a table is filled again from the stream (#19, G207, P5)", async () => {
  const clicks = [aClick(personal("refilled", IP)), aClick(personal("refilled-ip", "192.0.2.9"))];
  const one = journal(...clicks);
  await one.shipAll();
  await world.untilSettled(one);
  const before = await world.counts(LANE);
  expect(await eraseClick(clicks[0] ?? {})).toMatchObject({ clicks: 1 });
  expect(await eraseIp("192.0.2.9")).toMatchObject({ clicks: 1 });
  await until("no erasure is due", async () => !(await repeatDueErasure(stores())), PATIENCE);
  await writer.close();
  await world.clickhouse.command({
    query: `alter table click delete where _lane = ${LANE} settings mutations_sync = 2`,
  });
  writer = await world.startWriter();
  await until(
    "all clicks are there again",
    async () => (await world.counts(LANE)).positions >= before.positions,
    PATIENCE,
  );
  expect(await world.counts(LANE)).toEqual(before);
  const stored = await inTable();
  expect(stored).toContain("kept refilled");
  for (const value of [
    'Browser of refilled"',
    "?from=192.0.2.9",
    '"192.0.2.9"',
    "Browser of late-gclid",
  ])
    expect(stored).not.toContain(value);
  expect(await byGclid("refilled")).toBe("");
  // A restore may have undone older erasures: all of them are due again.
  const { rows } = await world.pool.query<{ due: number; all: number }>({
    text: "select count(*) filter (where repeat_at <= now()) as due, count(*) as all from erasure",
  });
  expect(rows[0]?.due).toBe(rows[0]?.all);
});
