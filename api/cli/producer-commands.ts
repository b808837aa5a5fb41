import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import {
  type FreedProducers,
  type ProducerNumbers,
  proveFreeProducers,
  readProducerNumbers,
} from "../../schemas/installation/free-producers.ts";
import { connectNats } from "../../schemas/nats/connect.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import {
  giveUpProducer,
  type ListedProducer,
  readProducers,
} from "../workspace/system/status/producers.ts";
import type { Command, CommandEnvironment } from "./command.ts";
import { CommandError, UsageError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import { noteInAllWorkspaces } from "./note-in-all-workspaces.ts";
import { JSON_OUTPUT } from "./options.ts";
import { findServers } from "./servers.ts";
import { table } from "./table.ts";

const NAME_OF_FREE = "tracker producer free";

const list: Command = {
  name: "producer list",
  summary: "ingress journals, their hosts, and since when clicks may be missing",
  options: JSON_OUTPUT,
  examples: ["producer list"],
  notes: `running: its process runs. ended: it stopped cleanly and all of its clicks are stored.
silent: its journal may contain clicks; look-ups of clicks since then answer 503.
given up: \`producer give-up\` ended the wait.
free: nothing of it is left anywhere, so its number may be given out again.`,
  run: async (given, environment) =>
    await withDatabase(environment, async (db) => {
      const producers = await readProducers(db);
      return given.has("json") ? JSON.stringify(producers, null, 2) : producerTable(producers);
    }),
};

function producerTable(producers: readonly ListedProducer[]): string {
  return table(
    [
      { title: "NUMBER", value: ({ id }) => id },
      { title: "HOST", value: ({ host }) => host },
      { title: "STATE", value: ({ state }) => state },
      { title: "LAST REPORT", value: ({ lastWordAt }) => lastWordAt ?? "never" },
      { title: "MAY MISS CLICKS SINCE", value: ({ mayMissSince }) => mayMissSince },
    ],
    producers,
    "There is no producer: no ingress has started yet.",
  );
}

const giveUp: Command = {
  name: "producer give-up",
  operand: { name: "NUMBER", summary: "of the producer, as `producer list` shows it" },
  summary: "stops waiting for an ingress whose disk is lost",
  options: JSON_OUTPUT,
  examples: ["producer give-up 7"],
  notes: `Only for a journal that cannot come back. Otherwise start an ingress on it, or run
\`journal ship\`. Prints the time since when clicks may be missing; look-ups
work again within ten seconds. If it comes back after all, its clicks count.
Safe to repeat.`,
  run: async (given, environment) => await runGiveUp(given.operand, given.has("json"), environment),
};

async function runGiveUp(
  operand: string,
  asJson: boolean,
  environment: CommandEnvironment,
): Promise<string> {
  if (!/^\d{1,5}$/.test(operand)) throw new UsageError(`"${operand}" is not a producer number.`);
  const id = Number(operand);
  return await withDatabase(environment, async (db) => {
    const [before] = await readProducers(db, id);
    if (before === undefined) {
      throw new CommandError(`There is no producer ${id}: \`producer list\` shows all producers.`);
    }
    if (before.state === "running") {
      throw new CommandError(
        `Nothing was changed: producer ${id} on ${before.host} is running. It last reported at ${before.lastWordAt ?? "no time"}.`,
      );
    }
    if (before.state === "silent") {
      await giveUpProducer(db, id);
      await noteInAllWorkspaces(db, `cli producer give-up ${id}`);
    }
    const [after = before] = await readProducers(db, id);
    return asJson ? JSON.stringify(after, null, 2) : sentenceOf(after);
  });
}

function sentenceOf({ id, mayMissSince }: ListedProducer): string {
  return mayMissSince === null
    ? `Producer ${id} stopped cleanly: no click of it is missing, and no process waits for it.`
    : `Producer ${id} is given up. Clicks that it answered since ${mayMissSince} may be missing.`;
}

const free: Command = {
  name: "producer free",
  summary: "finds numbers of former ingress journals that may be given out again",
  options: JSON_OUTPUT,
  examples: ["producer free"],
  notes: `There are 65,535 numbers, and each new journal takes one. The service looks for free
numbers hourly by itself, and gives them out again when 50,000 were used. A number
is free when its journal ended or was given up a week ago or more, all of its clicks
are stored or noted as lost, and the stream of clicks has no message of that time.
A journal that returns later takes a new number, and its clicks count. Safe to repeat.`,
  run: async (given, environment) =>
    await withDatabase(environment, async (db) => {
      const found = await proveWithStores(db, environment);
      const left = await readProducerNumbers(db);
      return given.has("json")
        ? JSON.stringify({ ...found, left }, null, 2)
        : linesOf(found, left).join("\n");
    }),
};

async function proveWithStores(
  db: Pool,
  { servers, dataDir, natsSpace }: CommandEnvironment,
): Promise<FreedProducers> {
  const { clickhouse: server, nats: natsServer } = findServers(
    ["clickhouse", "nats"],
    servers,
    dataDir,
  );
  const clickhouse = openClickhouse({ ...server, applicationName: NAME_OF_FREE });
  try {
    const nats = await connectNats({ ...natsServer, name: NAME_OF_FREE, ...natsSpace });
    try {
      return await proveFreeProducers({ db, clickhouse, nats });
    } finally {
      await nats.connection.close();
    }
  } finally {
    await clickhouse.close();
  }
}

function linesOf({ freed, differing, inStream }: FreedProducers, left: ProducerNumbers): string[] {
  const lines = [
    `${freed.length} more numbers may be given out again; ${left.free} in all, beside ${left.fresh} that were never used.`,
  ];
  if (inStream > 0)
    lines.push(`${inStream} must wait until the stream has dropped the messages of their time.`);
  if (differing.length > 0)
    lines.push(
      `${differing.length} have rows that are missing or stored twice, which \`tracker audit\` names: ${differing.slice(0, 10).join(", ")}.`,
    );
  return lines;
}

export const producerCommands: readonly Command[] = [list, giveUp, free];
