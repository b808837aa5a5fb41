import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { ApiWorld } from "../api/api-world.ts";
import { UpdateCalls } from "./update-calls.ts";

const world = await forThisFile(ApiWorld.open());
const calls = new UpdateCalls(world, world.tenant);
const offer = await world.offer();

const FILE_ROWS = 20_000;
/** Half of what two free cores must do: the machine of a run has other work, too. */
const ROWS_PER_SECOND_MIN = 1_000;

test("20,000 rows are applied at 2,000 a second, also when a process dies in the middle (N129)", async () => {
  const prefix = "R";
  const ids = await calls.insertConversions(offer.id, prefix, { count: FILE_ROWS });
  const lines = ids.map((id, index) => `${id},${index % 10 === 0 ? "rejected" : "approved"},ok`);
  const checked = await calls.checked(`conversion_id,status,reason\n${lines.join("\n")}\n`);
  expect(checked.counts).toMatchObject({ changed: FILE_ROWS });
  // A process that dies in the middle of a step: its transaction is taken back, and another step does the same rows.
  const startedAtMs = performance.now();
  await calls.call("POST", `/conversion-updates/${checked.id}/apply`);
  await until("some rows are done", async () => (await doneOf(checked.id)) > 0, { pollMs: 20 });
  await world.pool.query({
    text: `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and query like '%step_conversion_update%' and pid <> pg_backend_pid()`,
  });
  const applied = await calls.settled(checked.id, 200);
  const perSecond = (FILE_ROWS * 1000) / (performance.now() - startedAtMs);
  expect(applied).toMatchObject({ status: "done", counts: { changed: FILE_ROWS } });
  const [found] = await world.rows<{ rows: number; conversions: number; approved: number }>(
    `select count(*)::integer as rows, count(distinct conversion_id)::integer as conversions,
       count(*) filter (where to_status = 'approved')::integer as approved
     from conversion_history where conversion_id = any ($1::uuid[])`,
    [ids],
  );
  expect(found).toEqual({ rows: FILE_ROWS, conversions: FILE_ROWS, approved: FILE_ROWS * 0.9 });
  expect(perSecond).toBeGreaterThan(ROWS_PER_SECOND_MIN);
});

async function doneOf(id: number): Promise<number> {
  const { rows_done: done } = await calls.get(id);
  return Number(done);
}
