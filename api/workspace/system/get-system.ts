import { z } from "zod";
import type { Nats } from "../../../schemas/nats/connect.ts";
import { shownTime } from "../../fields/body-fields.ts";
import type { Operation } from "../../operation/operation.ts";
import { personOperation } from "../../people/people-operation.ts";
import { OPERATORS, refuseOthers } from "./operators.ts";
import type { Answer, Snapshot } from "./status/snapshot.ts";
import { type StatusLine, stateOf } from "./status/status-line.ts";
import { reportOf } from "./status/status-report.ts";
import { takeSnapshot } from "./status/take-snapshot.ts";
import { COUNT_MAX, readPostgresVersion, readWaiting } from "./waiting.ts";

const STATES = ["well", "degraded", "unknown", "lost"] as const;
const LINES = ["clicks", "journal", "lanes", "stores", "audit"] as const;
const STORES = ["postgres", "nats", "clickhouse"] as const;

const Line = z.strictObject({
  name: z.enum(LINES),
  state: z.enum(STATES).meta({ description: "The worst of its parts" }),
  parts: z
    .array(
      z.strictObject({
        text: z.string().meta({ description: "A figure in words" }),
        fault: z.enum(STATES).nullable().meta({ description: "null: as it should be" }),
      }),
    )
    .meta({ description: "Figures in words, as `tracker status` prints them" }),
});

const Store = z.strictObject({
  name: z.enum(STORES),
  is_reachable: z.boolean().meta({ description: "Whether it answered within 3 s" }),
  version: z.string().nullable().meta({ description: "null if it did not answer" }),
  reason: z.string().nullable().meta({ description: "Why it did not answer" }),
});

const Process = z.strictObject({
  role: z.string(),
  name: z.string(),
  host: z.string(),
  version: z.string().meta({ description: "Version of the release" }),
  commit: z.string().meta({ description: "Commit of its source" }),
  answers: z.boolean().meta({ description: "Whether it answered this question" }),
  heartbeat_age_seconds: z.number().nullable().meta({
    description: "Since it last wrote to Postgres that it is alive; null if it never did",
  }),
});

const Output = z.object({
  data: z
    .strictObject({
      at: shownTime,
      state: z.enum(STATES).meta({ description: "The worst state of the lines" }),
      lines: z.array(Line).meta({ description: "The lines of `tracker status`" }),
      stores: z.array(Store).meta({ description: "The servers that keep the data" }),
      waiting: z
        .strictObject({
          conversions: z
            .int()
            .meta({ description: "Changes of conversions that reports lack yet" }),
          ad_costs: z.int().meta({ description: "Changes of ad costs that reports lack yet" }),
          deliveries: z
            .int()
            .meta({ description: "Postbacks and webhooks that have not reached their receivers" }),
          oldest_delivery_seconds: z
            .number()
            .meta({ description: "How long the oldest delivery is overdue; 0 if none is" }),
        })
        .meta({
          description: `What Postgres has and others do not yet: facts for ClickHouse, and deliveries. Counts stop at ${COUNT_MAX}.`,
        }),
      processes: z.array(Process).meta({ description: "Every process of the installation" }),
    })
    .meta({ id: "System" }),
});

export const getSystem: Operation = personOperation({
  name: "getSystem",
  method: "GET",
  path: "/system",
  tag: "System",
  summary: "Get the state of the installation",
  description:
    "Asks Postgres, NATS, ClickHouse and every process now, so the answer is the same whichever process gives it. It takes a second or two. For operators.",
  access: OPERATORS,
  input: {},
  output: Output,
  status: 200,
  findResource: async (context) => await Promise.resolve(refuseOthers(context)),
  run: async ({ db, clickhouse, nats }) => {
    const stores = { db, clickhouse, nats: async () => await connected(nats) };
    const snapshot = await takeSnapshot(stores, undefined, new AbortController().signal);
    const { atMs, state, lines, processes } = reportOf(snapshot);
    const data: z.infer<typeof Output>["data"] = {
      at: new Date(atMs).toISOString(),
      state,
      lines: lines.map(shownLine),
      stores: storesIn(snapshot, {
        postgres: await readPostgresVersion(db),
        nats: nats?.connection.info?.version ?? null,
      }),
      waiting: await readWaiting(db),
      processes: [...processes],
    };
    return { body: { data } };
  },
});

/** @throws while NATS is away. */
async function connected(nats: Nats | undefined): Promise<Nats> {
  if (nats === undefined || nats.connection.isClosed()) throw new Error("no connection to NATS");
  await nats.connection.rtt();
  return nats;
}

function shownLine({ name, parts }: StatusLine): z.infer<typeof Line> {
  return {
    name,
    state: stateOf({ parts }),
    parts: parts.map(({ text, fault = null }) => ({ text, fault })),
  };
}

function storesIn(
  { postgres, streams, clickhouse }: Snapshot,
  versions: { readonly postgres: string; readonly nats: string | null },
): z.infer<typeof Store>[] {
  return [
    shownStore("postgres", postgres, versions.postgres),
    shownStore("nats", streams, versions.nats),
    shownStore(
      "clickhouse",
      clickhouse,
      clickhouse.is === "known" ? clickhouse.value.version : null,
    ),
  ];
}

function shownStore(
  name: (typeof STORES)[number],
  answer: Answer<unknown>,
  version: string | null,
): z.infer<typeof Store> {
  return answer.is === "known"
    ? { name, is_reachable: true, version, reason: null }
    : { name, is_reachable: false, version: null, reason: answer.why };
}
