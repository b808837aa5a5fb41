import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { ApiWorld, details, record, refusal } from "../api/api-world.ts";
import { whileTableIsLocked } from "../api/locked-table.ts";
import { adjust, switchOn } from "./billing-world.ts";

const world = await forThisFile(ApiWorld.open());
await switchOn(world);
const { keys } = world.tenant;

async function countOf(reason: string): Promise<unknown> {
  const rows = await world.rows(`select count(*)::int, count(t.id)::int as posted from adjustment d
     left join ledger_transaction t on t.source_kind = 'adjustment' and t.source_id = d.id::text where d.reason = '${reason}'`);
  return rows[0];
}

test("a request that comes again gets the first answer and has no second effect (N5)", async () => {
  const send = () => adjust(world, { reason: "replay" }, { idempotencyKey: "a.B_9-" });
  const first = await send();
  const again = await send();
  expect([first.status, again.status]).toEqual([201, 201]);
  expect(again.text).toBe(first.text);
  expect(first.headers.get("idempotency-replayed")).toBeNull();
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  expect(await countOf("replay")).toEqual({ count: 1, posted: 1 });
});

test("the same key with another body or path is refused (N5)", async () => {
  const idempotencyKey = "other";
  const { id } = record(await adjust(world, { reason: "first" }, { idempotencyKey }));
  const answer = await adjust(world, { reason: "second" }, { idempotencyKey });
  expect([refusal(answer), details(answer).field]).toEqual(["409 conflict", "idempotency_key"]);
  const headers = { "idempotency-key": idempotencyKey };
  const reversal = await world.call("POST", `/adjustments/${id}/reverse`, { headers });
  expect([refusal(reversal), details(reversal).field]).toEqual(["409 conflict", "idempotency_key"]);
  expect(await countOf("second")).toEqual({ count: 0, posted: 0 });
});

test("of 20 senders with one key exactly one has an effect (N5)", async () => {
  const send = () => adjust(world, { reason: "race" }, { idempotencyKey: "race" });
  const answers = await Promise.all(Array.from({ length: 20 }, send));
  expect(await countOf("race")).toEqual({ count: 1, posted: 1 });
  for (const answer of answers) {
    if (answer.status === 201) continue;
    expect([refusal(answer), details(answer).field]).toEqual(["409 conflict", "idempotency_key"]);
    expect(answer.headers.get("retry-after")).toBe("1");
  }
  const done = answers.filter(({ status }) => status === 201);
  expect(new Set(done.map(({ text }) => text)).size).toBe(1);
  expect((await send()).text).toBe(done[0]?.text);
});

test("a sender that is killed before the commit leaves neither effect nor answer (N5)", async () => {
  const send = () => adjust(world, { reason: "killed" }, { idempotencyKey: "killed" });
  await whileTableIsLocked(world.pool, "idempotent_answer", async () => {
    const sending = send();
    const pid = await until(
      "the answer waits for its table",
      async () => {
        const rows = await world.rows<{ pid: number }>(
          `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
           and query like 'insert into idempotent_answer%'`,
        );
        return rows[0]?.pid;
      },
      { pollMs: 5 },
    );
    await world.rows("select pg_terminate_backend($1)", [pid]);
    expect(refusal(await sending)).toBe("503 unavailable");
  });
  expect(await countOf("killed")).toEqual({ count: 0, posted: 0 });
  const again = await send();
  expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([201, null]);
  expect(await countOf("killed")).toEqual({ count: 1, posted: 1 });
});

test("a refusal is not kept: the corrected request may use the key (N5)", async () => {
  const idempotencyKey = "refused";
  expect((await adjust(world, { reason: "refused", amount: "0" }, { idempotencyKey })).status).toBe(
    400,
  );
  expect((await adjust(world, { reason: "refused" }, { idempotencyKey })).status).toBe(201);
});

test.each(["", "a b", "a/b", "ä", "x".repeat(65)])("the key %j is refused (N5)", async (key) => {
  const idempotencyKey = encodeURI(key).replaceAll("%20", " ");
  const answer = await adjust(world, {}, { idempotencyKey });
  expect(refusal(answer)).toBe("400 invalid_request");
});

test("answers are replayed only to callers who may use the operation, in their workspace (N5)", async () => {
  const send = (key: string, fields = {}) =>
    adjust(world, { reason: "whose", ...fields }, { key, idempotencyKey: "whose" });
  const first = await send(keys.admin);
  expect(first.status).toBe(201);
  expect(refusal(await send(keys.analyst))).toBe("403 read_only_key");
  expect(refusal(await send(keys.partner))).toBe("403 forbidden");
  const other = await world.addTenant("other");
  await switchOn(world, other);
  const theirs = await send(other.keys.admin, { affiliate_id: other.affiliateId });
  expect([theirs.status, theirs.headers.get("idempotency-replayed")]).toEqual([201, null]);
  expect(theirs.text).not.toBe(first.text);
});

test("an answer is kept for 30 days (N5)", async () => {
  const send = () => adjust(world, { reason: "old" }, { idempotencyKey: "old" });
  await send();
  const age = (days: number) =>
    world.rows(
      `update idempotent_answer set created_at = now() - interval '${days} days' where key like '%/old'`,
    );
  await age(29);
  expect((await send()).headers.get("idempotency-replayed")).toBe("true");
  await age(31);
  expect((await send()).headers.get("idempotency-replayed")).toBeNull();
  expect((await send()).headers.get("idempotency-replayed")).toBe("true");
  expect(await countOf("old")).toEqual({ count: 2, posted: 2 });
});
