import { expect, test } from "vitest";
import { openPool } from "../../../schemas/postgres/connect.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { embeddedPostgresUrl } from "../../replay/set-up.ts";
import { killJob } from "../../system/processes.ts";
import { SEED } from "../../system/seed.ts";
import { startSystem } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";
import { reportDifferences } from "./recounted-day/compare-reports.ts";
import {
  databaseDifferences,
  listDifferences,
  nameRows,
  readList,
} from "./recounted-day/compare-rows.ts";
import { openShops } from "./recounted-day/open-shops.ts";
import { recountDay } from "./recounted-day/recount-day.ts";
import { sendDay } from "./recounted-day/send-day.ts";

const ENTRIES = Number(process.env["P20_ENTRIES"] ?? (IS_FULL ? 20_000 : 800));
const KINDS_OF_SHOP = 14;
const REPEATS = IS_FULL ? 2 : 1;
const FIRST_KILL_MS = 3_000;
/** Longer than 30 s, after which the launcher counts a run as stable: more frequent kills would make it delay restarts longer and longer. */
const KILL_EVERY_MS = 35_000;
const SHOWN_MAX = 12;

test("a recount of a day equals database, lists and reports (P20, LIFE-043, CNV-017, PB-011, PB-016)", async (context) => {
  await using system = await startSystem();
  const { client, dataDir } = system;
  const pool = openPool({
    url: await embeddedPostgresUrl(dataDir),
    applicationName: "test",
    connectionsMax: 2,
  });
  try {
    const orders = Math.ceil(ENTRIES / (KINDS_OF_SHOP * REPEATS));
    const opened = await openShops({ pool, client }, { orders, repeats: REPEATS });
    let kills = 0;
    const kill = (): void => void killJob(dataDir, "processors").then((hit) => (kills += hit));
    let killer: NodeJS.Timeout | undefined;
    const ledger = await sendDay({
      ...opened,
      client,
      seed: SEED,
      orders,
      onFirstOrder: () => {
        if (!IS_FULL) return;
        setTimeout(kill, FIRST_KILL_MS);
        killer = setInterval(kill, KILL_EVERY_MS);
      },
    });
    clearInterval(killer);
    await pool.query({
      text: "update conversion set hold_until = clock_timestamp() where hold_until is not null",
    });
    await until("all holds are over", async () => {
      const { rows } = await pool.query({
        text: "select from conversion where hold_until is not null limit 1",
      });
      return rows.length === 0;
    });
    const stored = await readList(client, "admin");
    const day = recountDay(opened, ledger, new Map(stored.map((row) => [row.id, row.conv_ts])));
    nameRows(day, stored);
    const lost = ledger.entries.reduce((sum, entry) => sum + entry.lost, 0);
    const answers = new Map<string, number>();
    for (const { status, reason } of day.rows) {
      const name = `${status} ${reason}`.trim();
      answers.set(name, (answers.get(name) ?? 0) + 1);
    }
    process.stdout.write(
      `P20 seed ${SEED}: ${ledger.entries.length} entries, ${day.rows.length} conversions, ${kills} kills, ${lost} attempts without an answer\n  ${[...answers].map(([name, count]) => `${name}: ${count}`).join(", ")}\n`,
    );
    const differences = [
      ...day.differences,
      ...(await listDifferences(day, client)),
      ...(await databaseDifferences(day, pool)),
      ...(await reportDifferences(day, client)),
    ];
    reportCases(context, { cases: ledger.entries.length, violations: differences.length });
    expect(differences.slice(0, SHOWN_MAX), `seed ${SEED}, ${differences.length} in all`).toEqual(
      [],
    );
    expect(kills > 0).toBe(IS_FULL);
  } finally {
    await pool.end();
  }
});
