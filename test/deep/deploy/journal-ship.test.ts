import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { openPool } from "../../../schemas/postgres/connect.ts";
import { ChildServer } from "../../system/child-server.ts";
import { ClickLoad, clickDifferences } from "../../system/click-load.ts";
import { IngressMachine } from "../../system/ingress-machine.ts";
import { OwnServer } from "../../system/own-server.ts";
import { serversOf } from "../../system/servers-of.ts";
import { startSystem } from "../../system/start-system.ts";
import { trackerCommand } from "../../system/tracker-command.ts";
import { until } from "../../system/until.ts";

vi.setConfig({ testTimeout: 240_000 });

const CLICKS = 300;
const PIXELS = 3;
const PATIENCE = { timeoutMs: 120_000, pollMs: 100 };
const Producers = z.array(z.looseObject({ id: z.int(), state: z.string() }));

test("a killed ingress that never returns: journal ship stores each click of its journal once", async () => {
  await using postgres = await OwnServer.open("postgres");
  await using nats = await OwnServer.open("nats");
  const env = { POSTGRES_URL: postgres.url, NATS_URL: nats.url };
  await using system = await startSystem({ env });
  const urls = await serversOf(system);
  const { client } = system;
  const link = client.demo.links.affiliate.replace(/\?.*/, "");
  await using machine = await IngressMachine.open("lost", urls);
  await machine.start();
  const load = new ClickLoad(machine.linkTo(link));
  load.start(2, 200);
  const grow = async (): Promise<void> => {
    const before = load.answered.size;
    await until("clicks are answered", () => load.answered.size >= before + CLICKS, PATIENCE);
  };
  await grow();
  const ship = async (...args: string[]): ReturnType<typeof trackerCommand> =>
    await trackerCommand(machine.dataDir, ["journal", "ship", ...args], env);
  const early = await ship();
  expect(early).toMatchObject({ code: 1 });
  expect(early.output).toContain("belongs to a process that runs");

  // From now on its clicks and pixels are on its disk only.
  await nats.kill();
  await grow();
  await keepPixels([...load.answered.values()].slice(0, PIXELS), machine);
  await grow();
  await machine.kill();
  await load.stop();
  expect(load.refused).toBe(0);
  const helpless = await ship("--seconds", "3");
  expect(helpless).toMatchObject({ code: 1 });
  expect(helpless.output).toMatch(/no connection to NATS.*still has \d+ segments?/s);

  await nats.start();
  await killHalfway(machine.dataDir, env);
  const shipped = await ship();
  expect(shipped, shipped.output).toMatchObject({ code: 0 });
  expect(shipped.output).toMatch(/1 journal in .* is empty/);
  // Shipped means stored: nothing is waited for.
  expect((await clickDifferences(urls.clickhouse, [load])).slice(0, 5)).toEqual([]);
  expect(await conversionsIn(postgres.url)).toBe(PIXELS);
  const files = await readdir(join(machine.dataDir, "journal"), { recursive: true });
  expect(files.filter((file) => file.endsWith(".wal"))).toEqual([]);

  const own = Number(files.find((file) => /^\d+$/.test(file)));
  // The click writers save every ten seconds what they know of producers.
  await until(
    "its producer has ended",
    async () => {
      const list = await trackerCommand(system.dataDir, ["producer", "list", "--json"], env);
      const listed = Producers.parse(JSON.parse(list.output));
      return listed.find(({ id }) => id === own)?.state === "ended";
    },
    PATIENCE,
  );
  expect(await ship()).toMatchObject({ code: 0 });
  expect(await clickDifferences(urls.clickhouse, [load])).toEqual([]);
});

test("journal ship refuses a folder without journals and a wrong time, and says so", async () => {
  await using postgres = await OwnServer.open("postgres");
  const env = { POSTGRES_URL: postgres.url, NATS_URL: "nats://127.0.0.1:9" };
  const nowhere = await trackerCommand(join(postgres.dataDir, "none"), ["journal", "ship"], env);
  expect(nowhere.output).toMatch(/There is no folder .*journal: set DATA_DIR/);
  expect(nowhere.code).toBe(1);
  const wrong = ["journal", "ship", "--seconds", "soon"];
  expect(await trackerCommand(postgres.dataDir, wrong, env)).toMatchObject({ code: 2 });
});

/** Pixels of clicks that it answered. No processor can be asked, so it keeps them. */
async function keepPixels(clickIds: readonly string[], machine: IngressMachine): Promise<void> {
  await Promise.all(
    clickIds.map(async (clickId) => {
      const answer = await fetch(`http://127.0.0.1:${machine.port}/px?click_id=${clickId}`);
      expect(answer.headers.get("x-tracker-conversion")).toContain("temporarily unavailable");
    }),
  );
}

/** Runs it until it has begun, and kills it with kill -9. */
async function killHalfway(dataDir: string, env: Record<string, string>): Promise<void> {
  const program = projectFile(".build", "ingress", "ship", "main.js");
  const child = ChildServer.spawn([process.execPath, program], { ...env, DATA_DIR: dataDir });
  await until("it ships", () => child.output.includes("left:"), { pollMs: 5 });
  await child.end("SIGKILL");
}

async function conversionsIn(url: string): Promise<number> {
  const pool = openPool({ url, applicationName: "test", connectionsMax: 1 });
  try {
    const text = "select count(*) as conversions from conversion";
    const { rows } = await pool.query<{ conversions: number }>({ text });
    return rows[0]?.conversions ?? 0;
  } finally {
    await pool.end();
  }
}
