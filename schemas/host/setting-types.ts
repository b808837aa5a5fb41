import { accessSync, constants, existsSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { parseIpRanges } from "../net/ip-ranges.ts";
import { isLoopbackHost } from "../net/loopback-host.ts";

/** How the text of an environment variable becomes a value. */
export type SettingType<Value> = {
  /** Completes the sentence "expected …"; also the column "value" of the documentation. */
  readonly accepts: string;
  /** Undefined for a text that is not accepted. */
  readonly parse: (text: string) => Value | undefined;
};

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

export const folder: SettingType<string> = { accepts: "a folder", parse: (given) => given };

export const existingFile: SettingType<string> = {
  accepts: "an existing file",
  parse: (given) => (existsSync(given) ? given : undefined),
};

/** Certificates and keys. */
export const readableFile: SettingType<string> = {
  accepts: "a file that this user can read",
  parse: (given) => (isReadableFile(given) ? given : undefined),
};

export const port: SettingType<number> = wholeNumber({ min: 1, max: 65_535 });

/** None, or several. */
export const ports: SettingType<readonly number[]> = {
  accepts: "port numbers, comma-separated",
  parse: (given) => {
    const found = itemsOf(given).flatMap((item) => port.parse(item) ?? []);
    return found.length === itemsOf(given).length ? found : undefined;
  },
};

/** Port 0 means any free port. */
export const portOrAny: SettingType<number> = wholeNumber({ min: 0, max: 65_535 });

export const onOff: SettingType<boolean> = {
  accepts: "0 or 1",
  parse: (given) => (given === "0" || given === "1" ? given === "1" : undefined),
};

export const ipAddress: SettingType<string> = {
  accepts: "an IP address",
  parse: (given) => (isIP(given) === 0 ? undefined : given),
};

/** Without the slash at its end. */
export const origin: SettingType<string> = {
  accepts: "an address such as https://track.example.com, without a path",
  parse: (given) => {
    const { pathname, search, hash, username, password } = parseUrl(given, ["http", "https"]) ?? {};
    const isOrigin = [pathname, search, hash, username, password].join("") === "/";
    return isOrigin ? given.replace(/\/$/, "") : undefined;
  },
};

/** What `Origin` of a request may be, as browsers write it. Programs have schemes of their own. */
export const origins: SettingType<readonly string[]> = {
  accepts: "origins such as https://chat.example.com or vscode-webview://name, comma-separated",
  parse: (given) => {
    const items = itemsOf(given).map((item) => item.toLowerCase());
    return items.every((item) => ORIGIN.test(item) && URL.canParse(item))
      ? items.map(originAsSent)
      : undefined;
  },
};

const ORIGIN = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#@]{1,300}\/?$/;

/** Browsers leave out the port that the scheme implies. */
function originAsSent(written: string): string {
  const { origin: asSent } = new URL(written);
  return asSent === "null" ? written.replace(/\/$/, "") : asSent;
}

/** An address, or a name and the address in angle brackets. */
export const mailAddress: SettingType<string> = text(
  "an address such as `Tracker <tracker@example.com>`",
  /^(?:[^<>\r\n]{1,100}<[^<>@\s]{1,64}@[^<>@\s]{1,190}>|[^<>@\s]{1,64}@[^<>@\s]{1,190})$/,
);

/** An identity provider. Plain http only on this machine, for tests. */
export const oidcIssuer: SettingType<string> = {
  accepts: "the https address of an identity provider, such as https://accounts.example.com",
  parse: (given) => {
    const { protocol, hostname } = parseUrl(given, ["http", "https"]) ?? {};
    if (protocol === "https:") return given;
    return hostname !== undefined && isLoopbackHost(hostname) ? given : undefined;
  },
};

/** One server, or several of a cluster. The value has no spaces. */
export const natsUrls: SettingType<string> = {
  accepts:
    "URLs that begin with nats:// or tls://, such as nats://user:password@host:4222, comma-separated",
  parse: (given) => {
    const urls = itemsOf(given);
    return urls.length > 0 && urls.every(isNatsUrl) ? urls.join(",") : undefined;
  },
};

/** One server, or several nodes of a cluster. The value has no spaces. */
export const clickhouseUrls: SettingType<string> = {
  accepts:
    "URLs that begin with http:// or https://, such as http://user:password@host:8123/database, comma-separated",
  parse: (given) => {
    const urls = itemsOf(given);
    const areUrls = urls.every((one) => parseUrl(one, ["http", "https"]) !== undefined);
    return urls.length > 0 && areUrls ? urls.join(",") : undefined;
  },
};

/** None, or several addresses of HTTP. */
export const httpUrls: SettingType<readonly string[]> = {
  accepts:
    "URLs that begin with http:// or https://, such as http://10.0.0.5:8222, comma-separated",
  parse: (given) => {
    const urls = itemsOf(given);
    return urls.every((one) => parseUrl(one, ["http", "https"]) !== undefined) ? urls : undefined;
  },
};

/** Every item is an address, a CIDR or `from-to`. */
export const networks: SettingType<readonly string[]> = {
  accepts:
    "IP addresses, networks such as 10.0.0.0/8 and ranges such as 10.0.0.1-10.0.0.9, comma-separated",
  parse: (given) => {
    const items = itemsOf(given);
    return parseIpRanges(items).unreadable.length === 0 ? items : undefined;
  },
};

/** `off`, or the share of answers without an error that have a line: 0 for errors only, 1 for all. */
export const accessShare: SettingType<"off" | number> = {
  accepts: "off, errors, all, or a share such as 0.01",
  parse: (given) => {
    if (given === "off") return "off";
    if (given === "errors") return 0;
    if (given === "all") return 1;
    return /^0?\.\d{1,6}$/.test(given) ? Number(given) : undefined;
  },
};

export function text(accepts: string, pattern: RegExp): SettingType<string> {
  return { accepts, parse: (given) => (pattern.test(given) ? given : undefined) };
}

/** The bounds are inclusive; `orZero` also allows 0. */
export function wholeNumber(options: {
  readonly min: number;
  readonly max: number;
  readonly unit?: string;
  readonly orZero?: boolean;
}): SettingType<number> {
  const { min, max, unit, orZero = false } = options;
  const what = unit === undefined ? "a whole number" : `a whole number of ${unit}`;
  return {
    accepts: `${orZero ? "0, or " : ""}${what} from ${min} to ${max}`,
    parse: (given) => {
      const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
      return (value >= min && value <= max) || (orZero && value === 0) ? value : undefined;
    },
  };
}

export function oneOf<const Word extends string>(words: readonly Word[]): SettingType<Word> {
  return {
    accepts: `one of ${words.join(", ")}`,
    parse: (given) => words.find((word) => word === given),
  };
}

export function someOf<const Word extends string>(
  words: readonly Word[],
): SettingType<readonly Word[]> {
  return {
    accepts: `some of ${words.join(", ")}, comma-separated`,
    parse: (given) => {
      const items = itemsOf(given);
      const found = words.filter((word) => items.includes(word));
      return items.length > 0 && new Set(items).size === found.length ? found : undefined;
    },
  };
}

export function url(schemes: readonly string[], example: string): SettingType<string> {
  const beginnings = schemes.map((scheme) => `${scheme}://`).join(" or ");
  return {
    accepts: `a URL that begins with ${beginnings}, such as ${example}`,
    parse: (given) => (parseUrl(given, schemes) === undefined ? undefined : given),
  };
}

/** A URL, or the word `off`. */
export function urlOrOff(schemes: readonly string[], example: string): SettingType<string> {
  const { accepts, parse } = url(schemes, example);
  return {
    accepts: `${accepts}, or off`,
    parse: (given) => (given === "off" ? given : parse(given)),
  };
}

/**
 * Waits in milliseconds. A leading zero stands for the first attempt, which does not wait, and is dropped.
 */
export function durations({ max }: { readonly max: number }): SettingType<readonly number[]> {
  return {
    accepts: `1 to ${max} durations such as 5s,30s,2m,1h, comma-separated; without a unit they are seconds`,
    parse: (given) => {
      const items = given.split(",").map((item) => /^(\d{1,9})(ms|s|m|h|d)?$/.exec(item.trim()));
      const waitsMs = items.map((match) => Number(match?.[1]) * (UNIT_MS[match?.[2] ?? "s"] ?? 0));
      if (items.length > max || waitsMs.some((ms) => Number.isNaN(ms))) return undefined;
      return waitsMs[0] === 0 ? waitsMs.slice(1) : waitsMs;
    },
  };
}

/** The comma-separated items of a list; empty ones are left out. */
function itemsOf(list: string): string[] {
  return list
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function parseUrl(given: string, schemes: readonly string[]): URL | undefined {
  if (!schemes.some((scheme) => given.startsWith(`${scheme}://`))) return undefined;
  return URL.canParse(given) ? new URL(given) : undefined;
}

function isNatsUrl(given: string): boolean {
  const { hostname, pathname } = parseUrl(given, ["nats", "tls"]) ?? {};
  return hostname !== undefined && hostname !== "" && (pathname === "" || pathname === "/");
}

function isReadableFile(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return !statSync(path).isDirectory();
  } catch {
    // Missing, or closed to this user: the message names the path.
    return false;
  }
}
