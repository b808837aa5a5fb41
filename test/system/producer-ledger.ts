import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readRuns } from "../../ingress/journal/journal-run.ts";
import { MovedEpochs } from "../../ingress/journal/moved-epochs.ts";
import { producersIn, retiredSinceMs } from "../../ingress/journal/producer-folder.ts";
import { openClickhouse } from "../../schemas/clickhouse/connect.ts";

/** An ingress's journal, and the loads (`ClickLoad.run`) that this ingress alone answered. */
export type ProducerSource = {
  readonly name: string;
  readonly dataDir: string;
  readonly loads: readonly string[];
};

/** A journal folder as found on disk. */
type Folder = {
  readonly machine: string;
  readonly producer: number;
  /** Random, made with the folder: identifies the owner of the number. */
  readonly ownerNonce: string;
  readonly isRetired: boolean;
  /** The nonce of each start, by its epoch. */
  readonly nonces: ReadonlyMap<number, string>;
  /** The number under which each moved epoch is shipped, by epoch. */
  readonly moved: ReadonlyMap<number, number>;
};

const Row = z.object({ producer: z.int(), epoch: z.int(), load: z.string(), count: z.int() });
const EpochClaim = z.object({ producer: z.int(), epoch: z.int(), nonces: z.array(z.string()) });

/**
 * Compares the producer numbers and epochs on the machines' disks with the clicks and claims in ClickHouse. Returns one sentence for
 * each number that was given twice, each number or epoch that two machines use, and each epoch with clicks that another machine
 * answered.
 */
export async function producerDifferences(
  clickhouseUrl: string,
  sources: readonly ProducerSource[],
): Promise<{ readonly epochs: number; readonly differences: string[] }> {
  const folders = sources.flatMap(readFolders);
  const { rows, claims } = await readStored(
    clickhouseUrl,
    sources.flatMap(({ loads }) => loads),
  );
  const differences = [
    ...numbersGivenTwice(folders),
    ...epochsGivenTwice(folders),
    ...foreignRows(folders, sources, rows),
    ...foreignClaims(folders, claims),
  ];
  return {
    epochs: new Set(rows.map(({ producer, epoch }) => `${producer}.${epoch}`)).size,
    differences,
  };
}

function readFolders({ name, dataDir }: ProducerSource): Folder[] {
  const journal = join(dataDir, "journal");
  return producersIn(journal).map((producer) => {
    const path = join(journal, String(producer));
    const nonceFile = join(path, "nonce");
    return {
      machine: name,
      producer,
      ownerNonce: existsSync(nonceFile)
        ? readFileSync(nonceFile, "utf8").trim()
        : `no nonce of ${name}`,
      isRetired: retiredSinceMs(path) !== undefined,
      nonces: new Map(readRuns(path).map(({ epoch, nonce }) => [epoch, nonce])),
      moved: new Map(new MovedEpochs(path).all),
    };
  });
}

function numbersGivenTwice(folders: readonly Folder[]): string[] {
  const owners = new Map<number, Set<string>>();
  const living = new Map<number, string[]>();
  for (const { machine, producer, ownerNonce, isRetired, moved } of folders) {
    add(owners, producer, ownerNonce);
    // A number for one moved epoch belongs to that epoch alone, and has no folder.
    for (const [epoch, number] of moved) add(owners, number, `${machine}/${producer}.${epoch}`);
    if (!isRetired) living.set(producer, [...(living.get(producer) ?? []), machine]);
  }
  return [
    ...[...owners]
      .filter(([, nonces]) => nonces.size > 1)
      .map(([number, nonces]) => `number ${number} was given ${nonces.size} times`),
    ...[...living]
      .filter(([, machines]) => machines.length > 1)
      .map(([number, machines]) => `${machines.join(" and ")} both use number ${number}`),
  ];
}

function epochsGivenTwice(folders: readonly Folder[]): string[] {
  const nonces = new Map<string, Set<string>>();
  for (const folder of folders)
    for (const [epoch, nonce] of folder.nonces) add(nonces, `${folder.producer}.${epoch}`, nonce);
  return [...nonces]
    .filter(([, starts]) => starts.size > 1)
    .map(([epoch, starts]) => `${starts.size} starts have the epoch ${epoch}`);
}

/** Rows whose producer number and epoch do not belong to exactly one machine, the one that answered the click. */
function foreignRows(
  folders: readonly Folder[],
  sources: readonly ProducerSource[],
  rows: readonly z.infer<typeof Row>[],
): string[] {
  const answeredBy = new Map<string, Set<string>>();
  const differences: string[] = [];
  for (const { producer, epoch, load, count } of rows) {
    const machine = sources.find(({ loads }) => loads.includes(load))?.name ?? "no machine";
    add(answeredBy, `${producer}.${epoch}`, machine);
    const isOwn = folders.some(
      (folder) =>
        folder.machine === machine &&
        folder.nonces.has(epoch) &&
        (folder.producer === producer || folder.moved.get(epoch) === producer),
    );
    if (!isOwn)
      differences.push(`${count} clicks of ${machine} are stored as ${producer}.${epoch}`);
  }
  for (const [epoch, machines] of answeredBy) {
    if (machines.size > 1)
      differences.push(
        `clicks of ${[...machines].join(" and ")} are stored under one epoch, ${epoch}`,
      );
  }
  return differences;
}

function foreignClaims(
  folders: readonly Folder[],
  claims: readonly z.infer<typeof EpochClaim>[],
): string[] {
  return claims.flatMap(({ producer, epoch, nonces }) => {
    const own = folders.filter(
      (folder) => folder.producer === producer || folder.moved.get(epoch) === producer,
    );
    const known = new Set(own.flatMap((folder) => folder.nonces.get(epoch) ?? []));
    const foreign = nonces.filter((nonce) => !known.has(nonce));
    return nonces.length === 1 && foreign.length === 0
      ? []
      : [`${producer}.${epoch} is claimed by ${nonces.length} starts, ${foreign.length} unknown`];
  });
}

async function readStored(
  url: string,
  loads: readonly string[],
): Promise<{ rows: z.infer<typeof Row>[]; claims: z.infer<typeof EpochClaim>[] }> {
  const clickhouse = openClickhouse({ url, applicationName: "test" });
  const select = async (query: string): Promise<unknown> => {
    const query_params = { loads };
    const answer = await clickhouse.query({ query, query_params, format: "JSONEachRow" });
    return await answer.json();
  };
  try {
    return {
      rows: z.array(Row).parse(
        await select(`select _producer as producer, _epoch as epoch, sub1 as load, toUInt32(count()) as count
          from click where sub1 in {loads: Array(String)} group by all`),
      ),
      claims: z.array(EpochClaim).parse(
        await select(`select producer, epoch, groupUniqArray(nonce) as nonces from producer_claim
          group by all`),
      ),
    };
  } finally {
    await clickhouse.close();
  }
}

function add<Key, Value>(sets: Map<Key, Set<Value>>, key: Key, value: Value): void {
  sets.set(key, (sets.get(key) ?? new Set()).add(value));
}
