import { expect, test } from "vitest";
import { repeatAllErasures, repeatDueErasure } from "../../../schemas/erasure/erasures.ts";
import { runCommandOn } from "../api/run-tracker.ts";
import { DESCRIBED, EMAIL, ErasureWorld, IP, OTHER_IP, ZEROS } from "./erasure-world.ts";

const world = await ErasureWorld.open();
const { offerId, stores, tracking } = world;

test("by click: click, conversion, log and deliveries lose personal data; reports stay (#19, G207)", async () => {
  const visit = await world.aVisit({}, { email: EMAIL, phone: "+49 30 123" });
  const other = await world.aVisit({ ip: OTHER_IP, destination: "https://shop.example/" });
  const before = await world.reports();
  expect(await world.everything()).toContain(visit.gclid);

  const changed = await world.erase({ click_id: visit.click.click_id.toUpperCase() });
  expect(changed).toEqual({ clicks: 1, conversions: 1, log_rows: 1, deliveries: 2 });

  expect(await world.clickRow(visit.click.click_id)).toMatchObject({
    ip: "",
    user_agent: "",
    referrer: "",
    gclid: "",
    destination: "",
    extra: "",
    // The visitor's hash stays, so that a second click of the visitor is not paid as unique.
    visitor: 77,
    sub1: "kept",
    country: "DE",
    offer_id: offerId,
  });
  expect(await tracking.conversion(visit.conversionId)).toMatchObject({
    conv_ip: null,
    email_hash: null,
    phone_hash: null,
    status: "approved",
  });
  const all = await world.everything();
  for (const value of [visit.gclid, IP]) expect(all).not.toContain(value);
  for (const value of [other.gclid, OTHER_IP]) expect(all).toContain(value);
  expect(await world.reports()).toEqual(before);

  expect(await world.erase({ click_id: visit.click.click_id })).toEqual(ZEROS);
});

test("by e-mail: every click and conversion reported with it is cleared (#19, G207)", async () => {
  const visits = [
    await world.aVisit({ ip: "198.51.100.31" }, { email: EMAIL }),
    await world.aVisit({ ip: "198.51.100.32" }, { email: ` ${EMAIL.toLowerCase()} ` }),
  ];
  const other = await world.aVisit({ ip: OTHER_IP }, { email: "john@shop.example" });
  const before = await world.reports();
  expect(await world.erase({ email: EMAIL })).toMatchObject({
    clicks: 2,
    conversions: 2,
    log_rows: 2,
  });
  const all = await world.everything();
  for (const { gclid, click } of visits)
    for (const value of [gclid, click.ip]) expect(all).not.toContain(value);
  expect(all).toContain(other.gclid);
  expect(all.toLowerCase()).not.toContain(EMAIL.toLowerCase());
  expect(await world.reports()).toEqual(before);
  expect(await world.erase({ email: EMAIL })).toEqual(ZEROS);
});

test("by address: it is removed everywhere, whole or truncated, and the rest stays (#19, G207)", async () => {
  const address = "203.0.113.77";
  const whole = await world.aVisit({
    ip: address,
    destination: `https://shop.example/?ip=${address}`,
  });
  const truncated = await world.aVisit({ ip: "203.0.113.0", destination: "https://shop.example/" });
  const near = await world.aVisit({
    ip: "203.0.113.177",
    destination: "https://shop.example/?ip=203.0.113.177",
  });
  const before = await world.reports();
  expect(await world.erase({ ip: address })).toMatchObject({
    clicks: 2,
    conversions: 2,
    log_rows: 2,
  });
  expect(await world.clickRow(whole.click.click_id)).toMatchObject({
    ip: "",
    destination: "",
    gclid: whole.gclid,
    user_agent: "Browser 1.0",
  });
  expect(await world.clickRow(truncated.click.click_id)).toMatchObject({
    ip: "",
    gclid: truncated.gclid,
  });
  expect(await world.clickRow(near.click.click_id)).toMatchObject({ ip: "203.0.113.177" });
  expect((await world.everything()).replaceAll("203.0.113.77", "found")).not.toContain("found");
  expect(await world.reports()).toEqual(before);
  expect(await world.erase({ ip: address })).toEqual(ZEROS);
});

test("repeats clear data stored after the erasure without keeping the value (#19, G207)", async () => {
  const late = tracking.aClick({
    offer_id: offerId,
    ...DESCRIBED,
    gclid: "late-gclid",
    ip: "198.51.100.41",
  });
  const lateIp = tracking.aClick({ offer_id: offerId, ...DESCRIBED, ip: "198.51.100.42" });
  expect(await world.erase({ click_id: late.click_id })).toEqual(ZEROS);
  expect(await world.erase({ ip: lateIp.ip })).toEqual(ZEROS);
  expect(await world.everything()).not.toContain(lateIp.ip);
  await tracking.storeClicks([late, lateIp]);
  await tracking.report({ click_id: late.click_id, email: "late@shop.example" }, { ip: late.ip });
  await tracking.rows(
    "update erasure set repeat_at = null where at < now() - interval '1 minute' and kind = 'email'",
  );
  expect(await repeatAllErasures(tracking.pool)).toBeGreaterThan(1);
  while (await repeatDueErasure(stores));
  expect(await world.clickRow(late.click_id)).toMatchObject({ ip: "", gclid: "", user_agent: "" });
  expect(await world.clickRow(lateIp.click_id)).toMatchObject({ ip: "" });
  expect(
    await tracking.rows("select from conversion where click_id = $1 and email_hash is not null", [
      late.click_id,
    ]),
  ).toEqual([]);
});

test("after a restore every erasure is due at once, at any fraction of a millisecond (#19, G207)", async () => {
  await world.erase({ ip: "198.51.100.43" });
  const found: unknown[] = [];
  for (let round = 0; round < 50; round += 1) {
    const all = await repeatAllErasures(tracking.pool);
    const [row] = await tracking.rows<{ due: number }>(
      "select count(*)::integer as due from erasure where repeat_at <= clock_timestamp()",
    );
    if (row?.due !== all) found.push({ round, all, due: row?.due });
  }
  expect(found).toEqual([]);
  while (await repeatDueErasure(stores));
});

test("an erased click loses its visitor's hash after the longest uniqueness window (#19, G207)", async () => {
  const old = await tracking.addClick({ offer_id: offerId, ...DESCRIBED, ageMs: 40 * 86_400_000 });
  const young = await tracking.addClick({ offer_id: offerId, ...DESCRIBED });
  for (const { click_id } of [old, young])
    expect(await world.erase({ click_id })).toMatchObject({ clicks: 1 });
  await repeatAllErasures(tracking.pool);
  while (await repeatDueErasure(stores));
  expect(await world.clickRow(old.click_id)).toMatchObject({ visitor: 0 });
  expect(await world.clickRow(young.click_id)).toMatchObject({ visitor: 77 });
});

test("erasures of a clock that was ahead do not use up the budget of now (#19, G207)", async () => {
  await tracking.rows(
    `insert into erasure (workspace_id, kind, subject, at)
     select $1, 'email', '{x}', now() + interval '1 hour' from generate_series(1, 10)`,
    [tracking.workspaceId],
  );
  expect(await world.erase({ email: "nobody@nowhere.example" })).toEqual(ZEROS);
  await tracking.rows("delete from erasure where at > now() + interval '30 minutes'");
});

test("unknown values are 200 with zeros, other bodies 400, and calls are limited (#19, G207)", async () => {
  expect(await world.erase({ click_id: "0".repeat(32) })).toEqual(ZEROS);
  expect(await world.erase({ email: "nobody@nowhere.example" })).toEqual(ZEROS);
  expect(await world.erase({ ip: "2001:db8::77" })).toEqual(ZEROS);
  const wrong = [
    {},
    { click_id: "1" },
    { email: "x" },
    { ip: "1.2.3" },
    { ip: IP, email: EMAIL },
    { phone: "1" },
  ];
  for (const body of wrong)
    expect([body, (await world.api("POST", "/erasures", body)).status]).toEqual([body, 400]);
  const statuses: number[] = [];
  for (let n = 0; n < 11; n += 1)
    statuses.push(
      (await world.api("POST", "/erasures", { email: "nobody@nowhere.example" })).status,
    );
  expect([statuses.at(0), statuses.at(-1)]).toEqual([200, 429]);
});

test("`tracker person erase` does the same (#19, G207)", async () => {
  const visit = await world.aVisit({ ip: "198.51.100.51" });
  await tracking.rows("update erasure set at = at - interval '2 minutes'");
  const [workspace] = await tracking.rows<{ slug: string }>(
    "select slug from workspace where id = $1",
    [tracking.workspaceId],
  );
  const run = async (...args: string[]) =>
    (await runCommandOn(tracking, ["person", ...args])).result;
  const erased = await run(
    "erase",
    "--workspace",
    workspace?.slug ?? "",
    "--click",
    visit.click.click_id,
  );
  expect(erased).toMatch(
    /^Cleared: 1 clicks, 1 conversions, 1 rows of the inbound log, 2 deliveries\./,
  );
  expect(await world.everything()).not.toContain(visit.gclid);
  expect(await run("repeat-erasures")).toMatch(/^\d+ erasures are due again/);
  await expect(run("erase", "--workspace", workspace?.slug ?? "")).rejects.toThrow("exactly one");
});
