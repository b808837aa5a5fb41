import { alerts, type Fault, type Judgement, refusals, refuses } from "./finding.ts";

/** A row of `system.tables`. */
export type ClickhouseTable = {
  readonly name: string;
  readonly engine: string;
  /** The engine with its settings. */
  readonly engineFull: string;
};

/** Defaults of the server for settings of MergeTree tables, by name. */
export type MergeTreeDefaults = ReadonlyMap<string, string>;

/** A row of `system.replicas` of any server of the cluster. */
export type ReplicaState = {
  readonly host: string;
  readonly table: string;
  readonly isReadonly: boolean;
  readonly totalReplicas: number;
};

/** The macros of a server of the cluster. */
export type NodeMacros = {
  readonly host: string;
  readonly shard: string;
  readonly replica: string;
};

/** Tables of clicks: a repeated insert must be recognised by its token. */
const CLICK_TABLES = ["click", "impression"] as const;
const COPY_TABLES = ["conversion_fact", "ad_cost_fact"] as const;
const MARK_TABLES = ["producer_claim", "installation_mark"] as const;
const DURABLE_TABLES = [...CLICK_TABLES, ...COPY_TABLES, ...MARK_TABLES] as const;

/** Tables over all shards of a cluster. */
const DISTRIBUTED_TABLES = ["click_all", "impression_all"] as const;

/** Inserts that a server alone remembers for each table, and the same for replicas, with its time in seconds. */
const WINDOW_MIN = 10_000;
const REPLICATED_WINDOW_MIN = 100_000;
const REPLICATED_SECONDS_MIN = 86_400;
const REPLICAS_MIN = 2;

/** C1: tables keep what was acknowledged through a crash, and recognise a repeated insert. */
export function judgeEngines(
  tables: readonly ClickhouseTable[],
  defaults: MergeTreeDefaults,
  layout: "single" | "cluster",
): Judgement {
  const known = new Map(tables.map((table) => [table.name, table]));
  const isReplicated = layout === "cluster";
  const names = isReplicated ? [...DURABLE_TABLES, ...DISTRIBUTED_TABLES] : DURABLE_TABLES;
  const faults = names.flatMap((name) => {
    const table = known.get(name);
    if (table === undefined) {
      return [refuses(`The ClickHouse table ${name} does not exist: run \`tracker migrate\`.`)];
    }
    if (isDistributed(name)) return faultsOfDistributed(table);
    const setting = (wanted: string): number => settingOf(table, defaults, wanted);
    return isReplicated ? faultsOfReplicated(table, setting) : faultsOfTableAlone(table, setting);
  });
  return { faults };
}

function faultsOfTableAlone(
  { name, engine }: ClickhouseTable,
  setting: (name: string) => number,
): Fault[] {
  if (!engine.endsWith("MergeTree")) return [wrongEngine(name, engine, "MergeTree")];
  const unset = ["fsync_after_insert", "fsync_part_directory"].filter((one) => setting(one) !== 1);
  return [
    ...tooShort(name, setting, [["non_replicated_deduplication_window", WINDOW_MIN]]),
    ...refusals([
      unset.length > 0,
      `The ClickHouse table ${name} acknowledges inserts that a power cut can still take (${unset.join(" and ")} off): run \`tracker migrate\` with DURABILITY=strict, which sets them.`,
    ]),
  ];
}

function faultsOfReplicated(
  { name, engine }: ClickhouseTable,
  setting: (name: string) => number,
): Fault[] {
  if (!/^Replicated\w*MergeTree$/.test(engine)) {
    return [wrongEngine(name, engine, "Replicated…MergeTree, as CLICKHOUSE_LAYOUT=cluster needs")];
  }
  return tooShort(name, setting, [
    ["replicated_deduplication_window", REPLICATED_WINDOW_MIN],
    ["replicated_deduplication_window_seconds", REPLICATED_SECONDS_MIN],
  ]);
}

function faultsOfDistributed({ name, engine }: ClickhouseTable): Fault[] {
  return engine === "Distributed" ? [] : [wrongEngine(name, engine, "Distributed")];
}

function isDistributed(name: string): boolean {
  return DISTRIBUTED_TABLES.some((table) => table === name);
}

function isClickTable(name: string): boolean {
  return CLICK_TABLES.some((table) => table === name);
}

function wrongEngine(name: string, engine: string, wanted: string): Fault {
  return refuses(
    `The ClickHouse table ${name} has the engine ${engine}, not ${wanted}, so it can lose or repeat rows: restore the database as \`tracker migrate\` makes it.`,
  );
}

/** A repeated insert must be recognised in tables of clicks. */
function tooShort(
  table: string,
  setting: (name: string) => number,
  windows: readonly (readonly [string, number])[],
): Fault[] {
  if (!isClickTable(table)) return [];
  return windows
    .filter(([name, least]) => setting(name) < least)
    .map(([name, least]) =>
      refuses(
        `The ClickHouse table ${table} has ${name} ${setting(name)}, so a repeated insert can count clicks twice: run \`alter table ${table} modify setting ${name} = ${least}\`.`,
      ),
    );
}

/** A setting of the table, else the server's default; 0 when neither is known. */
function settingOf(
  { engineFull }: ClickhouseTable,
  defaults: MergeTreeDefaults,
  name: string,
): number {
  const given = new RegExp(`\\b${name} = '?(\\w+)'?`).exec(engineFull)?.[1];
  return numberOf(given ?? defaults.get(name));
}

function numberOf(text: string | undefined): number {
  if (text === "true") return 1;
  return text === undefined || text === "false" ? 0 : Number(text);
}

/** C2: one row was inserted twice under one token; `stored` is how often ClickHouse has it. */
export function judgeRepeatedInsert(stored: number): Judgement {
  const sentence = `ClickHouse stored a row ${stored} times that was inserted twice under one token, so a repeated insert counts clicks wrong`;
  return { faults: refusals([stored !== 1, sentence]) };
}

/** C3: every shard has another replica that takes writes, every server has all tables, and no two take themselves for the same replica. */
export function judgeReplicas(
  replicas: readonly ReplicaState[],
  nodes: readonly NodeMacros[],
): Judgement {
  const faults = replicas.flatMap(({ host, table, isReadonly, totalReplicas }) => {
    const found: Fault[] = [];
    if (totalReplicas < REPLICAS_MIN) {
      found.push(
        refuses(
          `The ClickHouse table ${table} on ${host} has ${totalReplicas} of ${REPLICAS_MIN} replicas, so the loss of that server loses rows: add a replica and run \`tracker migrate\`.`,
        ),
      );
    }
    if (isReadonly) {
      found.push(
        alerts(
          `The ClickHouse table ${table} on ${host} is read-only: start the majority of Keeper again, then run \`system restore replica ${table}\` if it stays so.`,
        ),
      );
    }
    return found;
  });
  return {
    faults: [...faults, ...faultsOfMissing(replicas, nodes), ...faultsOfMacros(nodes)],
  };
}

/** A server that was added or rebuilt lacks tables until `tracker migrate` has made them there. */
function faultsOfMissing(replicas: readonly ReplicaState[], nodes: readonly NodeMacros[]): Fault[] {
  const tables = [...new Set(replicas.map(({ table }) => table))];
  return nodes.flatMap(({ host, shard, replica }) => {
    const there = new Set(replicas.filter((one) => one.host === host).map(({ table }) => table));
    const lacking = tables.filter((table) => !there.has(table));
    if (lacking.length === 0) return [];
    return [
      alerts(
        `The ClickHouse server ${host} lacks ${lacking.join(", ")}, so it keeps no rows of them: run \`tracker migrate\`, after \`tracker clickhouse drop-replica ${shard}-${replica}\` if it had lost its disk.`,
      ),
    ];
  });
}

function faultsOfMacros(nodes: readonly NodeMacros[]): Fault[] {
  const owners = new Map<string, string[]>();
  for (const { host, shard, replica } of nodes) {
    const key = `shard ${shard}, replica ${replica}`;
    owners.set(key, [...(owners.get(key) ?? []), host]);
  }
  return [...owners]
    .filter(([, hosts]) => hosts.length > 1)
    .map(([place, hosts]) =>
      refuses(
        `The ClickHouse servers ${hosts.join(" and ")} both call themselves ${place}, so each takes the other's rows for its own: give every server its own macros.`,
      ),
    );
}

/** The incarnation that each store carries; undefined where ClickHouse has none yet. */
export type Incarnations = {
  readonly postgres: string;
  readonly clickhouse: string | undefined;
};

/** I1: the stores belong to one installation, and none was restored without `tracker restored`. */
export function judgeIdentity({ postgres, clickhouse = postgres }: Incarnations): Judgement {
  const sentence = `ClickHouse has the incarnation ${clickhouse} and Postgres has ${postgres}, so they belong to different installations`;
  return { faults: refusals([clickhouse !== postgres, sentence]) };
}
