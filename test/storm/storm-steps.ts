import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { metricAt } from "../services/metric-at.ts";
import { ClickStream } from "../system/click-stream.ts";
import { opsPortsOf } from "../system/ops-ports.ts";
import { type Job, keepDown, killNow } from "../system/processes.ts";
import { pause } from "../system/service.ts";
import { until } from "../system/until.ts";
import { clickOnce } from "./order-ledger.ts";
import type { StormWorld } from "./storm-world.ts";

export type StormStep = {
  /** A guarantee, with the numbers of its promises. */
  readonly name: string;
  /** `random` gives numbers from 0 to below 1, the same for the same seed. */
  readonly run: (storm: StormWorld, random: () => number) => Promise<void>;
  /** Steps with the same outage are variants of one fault: a storm has one of them, which SEED chooses. */
  readonly outage?: "NATS" | "ClickHouse";
};

const OUTAGE_MS = 4_000;
const NOTICED_MS = 60_000;
const CAP = 8;
const OUTAGE = "error: temporarily unavailable";

/** Each leaves the service working, and may run at any place of the order. What they lose or double shows when the ledgers are compared. */
export const STORM_STEPS: readonly StormStep[] = [
  {
    name: "an ingress is killed three times: clicks are answered again (P1)",
    run: async (storm, random) => {
      for (let kill = 0; kill < 3; kill += 1) {
        await storm.untilMore(50, 0);
        await pause(random() * 500);
        const pids = await storm.pidsOf("ingress");
        killNow(pids[Math.floor(random() * pids.length)] ?? 0);
        await untilSuccessor(storm, "ingress", pids);
      }
    },
  },
  ...natsAway("killed", async ({ nats }) => {
    await nats.kill();
    return () => nats.start();
  }),
  ...natsAway("frozen", async ({ nats }) => {
    await nats.signal("SIGSTOP");
    return () => nats.signal("SIGCONT");
  }),
  ...natsAway("cut off", async ({ natsGate }) => {
    await natsGate.shut();
    return () => natsGate.open();
  }),
  ...clickhouseAway("killed", async ({ clickhouse }) => {
    await clickhouse.kill();
    return () => clickhouse.start();
  }),
  ...clickhouseAway("frozen", async ({ clickhouse }) => {
    await clickhouse.signal("SIGSTOP");
    return () => clickhouse.signal("SIGCONT");
  }),
  {
    name: "answers of inserts are lost after they were executed: the writer asks the table (P4, P9)",
    run: async ({ inserts }) => {
      let lost = 0;
      inserts.fateOf = () => {
        if (lost >= 6) return "pass";
        lost += 1;
        return "lose-answer";
      };
      await until("six answers are lost", () => lost >= 6, { timeoutMs: 60_000 });
      inserts.fateOf = () => "pass";
    },
  },
  {
    name: "messages deleted from the stream raise an alarm within 60 s (P11)",
    run: deletesMessages,
  },
  {
    name: "everything is killed at once: clicks and orders are accepted again (P14)",
    run: async (storm, random) => {
      await storm.untilMore(20, 2);
      await pause(random() * 300);
      const stores = [storm.nats, storm.clickhouse];
      await Promise.all([
        storm.kill(["ingress", "processors", "api", "postgres"]),
        ...stores.map((server) => server.kill()),
      ]);
      await Promise.all(stores.map((server) => server.start()));
      await storm.untilMore(50, 4);
      await storm.untilApiAnswers();
    },
  },
  {
    name: "Postgres is frozen: /pb is 503 with Retry-After, a pixel is 200 and counted once later (P15)",
    run: freezesPostgres,
  },
  {
    name: "of 64 equal reports exactly one counts (P16)",
    run: async (storm) => {
      const { client } = storm.system;
      const clickId = await newClick(storm, "STORM");
      const txid = `${storm.orders.run}-equal-${Date.now()}`;
      const reports = Array.from({ length: 64 }, () =>
        storm.orders.report({ click_id: clickId, txid }),
      );
      expect(await Promise.all(reports)).not.toContain(undefined);
      const [row] = await counted(storm, txid);
      expect(row, client.demo.tracking_url).toEqual({ all: 64, counted: 1 });
    },
  },
  {
    name: `a cap of ${CAP} lets exactly ${CAP} through, with a processor killed meanwhile (P17)`,
    run: async (storm, random) => {
      const code = `CAP${Date.now().toString(36).toUpperCase()}`;
      const offerId = await storm.addOffer(code, { caps: { conversions: { total: CAP } } });
      const sendAll = Array.from({ length: 4 * CAP }, async (_, at) => {
        const click_id = await newClick(storm, code);
        return await storm.orders.report({ click_id, txid: `${storm.orders.run}-${code}-${at}` });
      });
      await pause(random() * 200);
      await storm.kill(["processors"]);
      expect(await Promise.all(sendAll)).not.toContain(undefined);
      const { rows } = await storm.db.query<{ approved: number }>({
        text: "select count(*)::int as approved from conversion where offer_id = $1 and status = 'approved'",
        values: [offerId],
      });
      expect(rows).toEqual([{ approved: CAP }]);
    },
  },
  {
    name: "an endpoint that hangs delays no delivery to another on its host and port (P23)",
    run: async (storm) => {
      storm.receiver.answer((response, { target }) => {
        if (!target.startsWith("/hanging")) response.end();
      });
      try {
        const before = await approvedOrders(storm);
        await storm.untilMore(0, 20);
        const during = [...(await approvedOrders(storm))].filter((id) => !before.has(id));
        expect(during.length).toBeGreaterThan(10);
        await until("the good endpoint has them all", () => {
          const arrived = deliveredTo(storm, "good");
          return during.every((id) => arrived.has(id));
        });
      } finally {
        storm.receiver.answer((response) => void response.end());
      }
    },
  },
  {
    name: "a rolling SIGTERM of every process refuses no click and loses no order (P34)",
    run: async (storm) => {
      const refused = storm.clicks.refused;
      const ingresses = await storm.pidsOf("ingress");
      for (const job of ["processors", "api"] as const) await restart(storm, job);
      for (const pid of ingresses) {
        const before = await storm.pidsOf("ingress");
        process.kill(pid, "SIGTERM");
        await untilSuccessor(storm, "ingress", before);
        await storm.untilMore(50, 0);
      }
      expect(storm.clicks.refused - refused).toBe(0);
    },
  },
];

/** Conversion IDs of the storm's offer that are approved. */
export async function approvedOrders({ db, offerId }: StormWorld): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>({
    text: "select id::text from conversion where offer_id = $1 and status = 'approved'",
    values: [offerId],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Conversion IDs that a place of the receiver has got. */
export function deliveredTo({ receiver }: StormWorld, place: string): Set<string> {
  return new Set(
    receiver.received
      .filter(({ target }) => target.startsWith(`/${place}?`))
      .map(({ target }) => new URLSearchParams(target.split("?")[1]).get("c") ?? ""),
  );
}

/** How many reports with this txid are stored, and how many of them count. */
async function counted(
  { db }: StormWorld,
  txid: string,
): Promise<{ all: number; counted: number }[]> {
  const { rows } = await db.query<{ all: number; counted: number }>({
    text: `select count(*)::int as "all", count(*) filter (where not is_duplicate)::int as counted
           from conversion where adv_txid = $1`,
    values: [txid],
  });
  return rows;
}

/** `begin` begins an outage of NATS and returns a function that ends it. */
function natsAway(
  how: string,
  begin: (storm: StormWorld) => Promise<() => Promise<void>>,
): StormStep[] {
  return [
    {
      name: `NATS is ${how}: every click is answered meanwhile (P2)`,
      outage: "NATS",
      run: async (storm) => {
        const unanswered = storm.clicks.unanswered.size + storm.clicks.refused;
        const end = await begin(storm);
        await Promise.all([pause(OUTAGE_MS), storm.untilMore(100, 0)]);
        await end();
        expect(storm.clicks.unanswered.size + storm.clicks.refused - unanswered).toBe(0);
        await storm.untilMore(50, 2);
      },
    },
  ];
}

function clickhouseAway(
  how: string,
  begin: (storm: StormWorld) => Promise<() => Promise<void>>,
): StormStep[] {
  return [
    {
      name: `ClickHouse is ${how}: clicks are answered and convert at once meanwhile (P4, P12)`,
      outage: "ClickHouse",
      run: async (storm) => {
        // Each buyer at least once with a click made just now: a processor that has just started reads the stream first.
        await storm.untilMore(50, 8);
        const end = await begin(storm);
        await Promise.all([pause(OUTAGE_MS), storm.untilMore(100, 1)]);
        await end();
        await storm.untilMore(50, 2);
      },
    },
  ];
}

async function deletesMessages(storm: StormWorld, random: () => number): Promise<void> {
  await using stream = await ClickStream.open(storm.system.dataDir);
  const port = (await opsPortsOf(storm.system)).get("processors") ?? 0;
  const startAgain = await keepDown(storm.system, "processors");
  let deleted = 0;
  try {
    // No process reads the stream any more, so no writer has seen the messages that follow.
    const from = await stream.lastSeq();
    const messages: number[] = [];
    await until("clicks are in the stream", async () => {
      const last = await stream.lastSeq();
      for (let seq = from + messages.length + 1; seq <= last && messages.length < 60; seq += 1)
        messages.push(seq);
      return messages.length >= 60;
    });
    for (let i = 0; i < 3; i += 1) {
      const seq = messages[Math.floor(random() * messages.length)] ?? 0;
      if ((await stream.recordsAt(seq)) === 0) continue;
      await stream.delete(seq);
      deleted += 1;
    }
  } finally {
    startAgain();
  }
  if (deleted > 0)
    await until(
      "the gap is counted",
      async () => (await metricAt(port, "clicks_holes_total")) > 0,
      { timeoutMs: NOTICED_MS, pollMs: 250 },
    );
  await storm.untilMore(50, 2);
}

async function freezesPostgres(storm: StormWorld): Promise<void> {
  const { client } = storm.system;
  const { tracking_url, postback_token } = client.demo;
  const [ofPostback, ofPixel] = [await newClick(storm, "STORM"), await newClick(storm, "STORM")];
  const txid = `${storm.orders.run}-pixel-${Date.now()}`;
  const resume = freeze(await storm.pidsOf("postgres"));
  try {
    const [postback, pixel] = await Promise.all([
      client.attempt(`${tracking_url}/pb?token=${postback_token}&click_id=${ofPostback}`),
      client.attempt(`${tracking_url}/px?click_id=${ofPixel}&txid=${txid}`),
    ]);
    expect(postback).toMatchObject({ status: 503, headers: { "retry-after": "30" } });
    expect(pixel).toMatchObject({ status: 200, headers: { "x-tracker-conversion": OUTAGE } });
  } finally {
    resume();
  }
  await until("the pixel counts", async () => (await counted(storm, txid))[0]?.all === 1, {
    timeoutMs: 60_000,
    pollMs: 250,
  });
  expect(await counted(storm, txid)).toEqual([{ all: 1, counted: 1 }]);
  await storm.untilMore(50, 2);
}

/** Stops the processes and their children, parents first, so that they start no more. Returns a function that resumes them. */
function freeze(pids: readonly number[]): () => void {
  const frozen: number[] = [];
  const stop = (pid: number): void => {
    process.kill(pid, "SIGSTOP");
    frozen.push(pid);
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    for (const child of children.split(" ").filter(Boolean)) stop(Number(child));
  };
  for (const pid of pids) if (!frozen.includes(pid)) stop(pid);
  return () => {
    for (const pid of frozen) {
      try {
        process.kill(pid, "SIGCONT");
      } catch (error) {
        // It has ended meanwhile.
        if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
      }
    }
  };
}

async function newClick(storm: StormWorld, code: string): Promise<string> {
  const { client } = storm.system;
  return await until("a click is answered", () => clickOnce(client, storm.linkOf(code)), {
    pollMs: 50,
  });
}

async function restart(storm: StormWorld, job: Job): Promise<void> {
  const before = await storm.pidsOf(job);
  for (const pid of before) process.kill(pid, "SIGTERM");
  await untilSuccessor(storm, job, before);
  if (job === "api") await storm.untilApiAnswers();
}

async function untilSuccessor(
  storm: StormWorld,
  job: Job,
  before: readonly number[],
): Promise<void> {
  await until(
    `the launcher restarts ${job}`,
    async () => (await storm.pidsOf(job)).some((pid) => !before.includes(pid)),
    { timeoutMs: 60_000, pollMs: 50 },
  );
}
