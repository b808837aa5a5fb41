import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { Agent, request } from "undici";
import { expect, test } from "vitest";
import { readSegment } from "../../../ingress/journal/segment-files.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { IngressFleet } from "../../system/ingress-fleet.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { pause } from "../../system/service.ts";
import { TcpGate } from "../../system/tcp-gate.ts";
import { until } from "../../system/until.ts";

const ROUNDS = IS_FULL ? 30 : 2;
const SENDERS = 16;
/** A cut comes after as many answers, however slow the machine is. */
const ANSWERS_MIN = 21;
const LIFE_MS_MIN = 400;
const LIFE_MS_MAX = 1_500;
/** The age of the oldest click that a power cut may take by default, with an instant disk and a process that is not delayed. */
const LOST_MS_MAX = 50;
const WAIT_WINDOW_MS = 500;
/** Files of `system/synced-copy.ts` beside the copied journal. */
const [WAITS, LAST] = ["waits", "last"];
/** A disk that syncs at once, so that its own delay does not count. Its file system supports a mapped journal. */
const DISK = "/dev/shm";
const random = randomOf(SEED);

type Round = { readonly lost: number[]; readonly answered: number; readonly waitMs: number };

test.for([
  { sync: "always", what: "no answered click is lost" },
  { sync: "interval", what: `only clicks of the last ${LOST_MS_MAX} ms are lost` },
])(
  "after a power cut without NATS, with JOURNAL_SYNC=$sync $what (P8, #24)",
  async ({ sync }, context) => {
    await using fleet = await IngressFleet.open({ processes: 0 });
    await fleet.world.addOffer();
    const natsUrl = fleet.world.env.NATS_URL;
    const folder = await mkdtemp(join(DISK, "tracker-p08-"));
    const all: Round[] = [];
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        const gate = await TcpGate.open(natsUrl);
        const run = { name: `${sync}-${round}`, sync, folder: join(folder, `${round}`) };
        all.push(await cutPower(fleet, gate, run));
        await gate.shut();
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    const isLost = (ageMs: number, { waitMs }: Round): boolean =>
      sync === "always" || ageMs > LOST_MS_MAX + waitMs;
    const violations = all.flatMap((round) => round.lost.filter((ageMs) => isLost(ageMs, round)));
    const ages = all.flatMap(({ lost }) => lost).toSorted((a, b) => a - b);
    const answered = all.reduce((sum, round) => sum + round.answered, 0);
    reportCases(context, { cases: answered, violations: violations.length });
    process.stdout.write(
      `P8 ${sync}: ${answered} answered, ${ages.length} lost, age at the cut p50 ${ages[ages.length >> 1] ?? 0} ms, ` +
        `max ${ages.at(-1) ?? 0} ms, longest wait ${Math.max(...all.map(({ waitMs }) => waitMs))} ms\n`,
    );
    expect(violations).toEqual([]);
    expect(answered).toBeGreaterThanOrEqual(ROUNDS * ANSWERS_MIN);
  },
);

/** Sends clicks to an ingress that cannot reach NATS, kills it at a random instant, and restarts it on what the disk had. */
async function cutPower(
  fleet: IngressFleet,
  gate: TcpGate,
  run: { readonly name: string; readonly sync: string; readonly folder: string },
): Promise<Round> {
  const copy = join(run.folder, "copy");
  const preload = projectFile(".build", "test", "system", "synced-copy.js");
  const pid = await fleet.addIngress({
    DATA_DIR: join(run.folder, "data"),
    JOURNAL_SYNC: run.sync,
    NATS_URL: gate.urlOf(fleet.world.env.NATS_URL),
    SYNCED_COPY: copy,
    NODE_OPTIONS: `--import=${preload}`,
  });
  await fleet.untilCurrent();
  await gate.shut();
  const { answeredAtMs, cutAtMs } = await clickUntilKilled(fleet.port, run.name, pid);
  const waitMs = await longestWait(copy, cutAtMs);

  // The machine comes back with what was synced, and with NATS. Other files than segments are synced on every write.
  for (const name of [WAITS, LAST]) await rm(join(copy, name));
  const data = join(run.folder, "data");
  const journal = join(data, "journal");
  for (const producer of await readdir(journal)) {
    for (const name of await readdir(join(journal, producer)))
      if (name.endsWith(".wal")) await rm(join(journal, producer, name));
  }
  await cp(copy, journal, { recursive: true });
  const recorded = await countRecords(journal);
  const next = await fleet.addIngress({ DATA_DIR: data, JOURNAL_SYNC: run.sync });
  const shipped = await fleet.untilShipped(recorded, ({ sub1 }) => sub1 === run.name);
  await fleet.terminate(next);
  const kept = new Set(shipped.map(({ click }) => click.sub2));
  const lost = [...answeredAtMs].flatMap(([number, atMs]) =>
    kept.has(`${number}`) ? [] : [cutAtMs - atMs],
  );
  return { lost, answered: answeredAtMs.size, waitMs };
}

/**
 * The longest delay before the cut, or until the cut. A stalled process neither answers nor syncs, and a click may wait for the running
 * sync and the one after it. Both add to the age of what may be lost. Both are in files of `system/synced-copy.ts`.
 */
async function longestWait(copy: string, cutAtMs: number): Promise<number> {
  const last = await readFile(join(copy, LAST));
  const [ranAtMs, syncBeganMs] = [last.readDoubleLE(0), last.readDoubleLE(8)];
  const pending = {
    stall: cutAtMs - ranAtMs,
    sync: syncBeganMs === 0 ? 0 : cutAtMs - syncBeganMs,
  };
  const late = (await readFile(join(copy, WAITS), "utf8"))
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([atMs]) => Number(atMs) > cutAtMs - WAIT_WINDOW_MS);
  const longest = (wanted: "stall" | "sync"): number =>
    Math.max(0, pending[wanted], ...late.map(([, what, ms]) => (what === wanted ? Number(ms) : 0)));
  return longest("stall") + 2 * longest("sync");
}

async function countRecords(journal: string): Promise<number> {
  let count = 0;
  for (const producer of await readdir(journal)) {
    for (const name of await readdir(join(journal, producer)))
      if (name.endsWith(".wal"))
        count += (await readSegment(join(journal, producer, name))).records.length;
  }
  return count;
}

/** The number of every answered click with the time of its answer, and the time of the kill. */
async function clickUntilKilled(
  port: number,
  run: string,
  pid: number,
): Promise<{ answeredAtMs: Map<number, number>; cutAtMs: number }> {
  const dispatcher = new Agent({ connections: SENDERS });
  const answeredAtMs = new Map<number, number>();
  let next = 0;
  let isDead = false;
  const send = async (): Promise<void> => {
    while (!isDead) {
      next += 1;
      const number = next;
      const url = `http://127.0.0.1:${port}/r/OFFER1/PARTNR?sub1=${run}&sub2=${number}`;
      try {
        const { statusCode, body } = await request(url, { dispatcher });
        await body.dump();
        if (statusCode === 302) answeredAtMs.set(number, Date.now());
      } catch (error) {
        // The outcome of requests that the kill cut off is unknown.
        if (!isDead) throw error;
      }
    }
  };
  const senders = Promise.all(Array.from({ length: SENDERS }, send));
  const lifeMs = LIFE_MS_MIN + random() * (LIFE_MS_MAX - LIFE_MS_MIN);
  await Promise.all([
    pause(lifeMs),
    until("clicks are answered", () => answeredAtMs.size >= ANSWERS_MIN),
  ]);
  isDead = true;
  const cutAtMs = Date.now();
  process.kill(pid, "SIGKILL");
  await senders;
  await dispatcher.destroy();
  return { answeredAtMs, cutAtMs };
}
