import { isbot, isbotNaive } from "isbot";
import parseUserAgent from "my-ua-parser";
import type { DeviceType } from "../../schemas/events/click-record.ts";
import { BoundedCache } from "./bounded-cache.ts";

/** Longer user agents are cut before they are parsed and kept, because the visitor chooses what they cost. */
export const USER_AGENT_LENGTH_MAX = 1_024;
const USER_AGENTS_REMEMBERED_MAX = 20_000;
/**
 * The parser reads this many characters, because for some texts its time grows with the square of the length. Names of systems and browsers
 * come earlier.
 */
const PARSED_LENGTH_MAX = 256;
/**
 * Microseconds of parsing that each click earns, and the most that is saved up: every thirty-second click may have a new user agent,
 * and 10,000 in a row after a start.
 */
const PARSE_US_PER_CLICK = 0.75;
const PARSE_US_MAX = 240_000;
/**
 * The cost of parsing and keeping a text of this length; a longer text costs the square of its length. It is a model and not a
 * measurement, because a clock also counts the pauses of a busy machine.
 */
const PARSE_US = 24;
const PARSE_US_LENGTH = 128;

/** What a user agent reports about itself (G155); texts are "" when it does not. */
export type Device = {
  readonly deviceType: DeviceType;
  readonly os: string;
  readonly osVersion: string;
  readonly browser: string;
  readonly browserVersion: string;
  readonly isBot: boolean;
  readonly isHeadless: boolean;
  readonly missingUa: boolean;
  /**
   * A part of the click record: built by the first click that needs it, and the same for all clicks of the user agent. Null if the device
   * is not kept.
   */
  fields: { readonly userAgent: string; readonly text: string } | undefined | null;
};

export type DeviceReader = {
  /** `userAgent` is at most {@link USER_AGENT_LENGTH_MAX} long. */
  readonly read: (userAgent: string) => Device;
};

const HEADLESS = /HeadlessChrome|PhantomJS|Puppeteer|Playwright|SlimerJS|Headless/i;
/** Desktop systems; televisions and consoles name themselves. */
const DESKTOP_OS =
  /^(windows|mac os|gnu|linux|ubuntu|debian|fedora|chromium os|chrome os|freebsd|openbsd|netbsd|solaris|arch|centos|gentoo|mint|suse|redhat|mageia|mandriva|manjaro)$/i;

/**
 * Parsing costs 15 to 90 µs and a look-up 0.1 µs, so results are cached. Each click earns a little time for parsing. A flood of
 * new user agents uses it up: then system, kind of device and crawlers are read by a few words, the browser stays unknown, and `guessed`
 * is called (P40). `savedUs` is the time saved up at the start.
 */
export function openDevices(
  guessed: () => void = () => undefined,
  savedUs: number = PARSE_US_MAX,
): DeviceReader {
  const known = new BoundedCache<Device>(USER_AGENTS_REMEMBERED_MAX);
  let parseUs = savedUs;
  return {
    read: (userAgent) => {
      parseUs = Math.min(PARSE_US_MAX, parseUs + PARSE_US_PER_CLICK);
      const remembered = known.get(userAgent);
      if (remembered !== undefined) return remembered;
      if (parseUs <= 0) {
        guessed();
        return guessDevice(userAgent);
      }
      const device = readDevice(userAgent);
      parseUs -= parseUsOf(userAgent);
      known.set(userAgent, device);
      return device;
    },
  };
}

function parseUsOf({ length }: string): number {
  return PARSE_US * Math.max(1, Math.min(length, PARSED_LENGTH_MAX) / PARSE_US_LENGTH) ** 2;
}

type Parsed = {
  readonly type?: string | undefined;
  readonly os?: string | undefined;
  readonly osVersion?: string | undefined;
  readonly browser?: string | undefined;
  readonly browserVersion?: string | undefined;
  readonly isCrawler: boolean;
  readonly fields: Device["fields"];
};

function readDevice(userAgent: string): Device {
  const { browser, os, device } = parseUserAgent(userAgent.slice(0, PARSED_LENGTH_MAX));
  return deviceOf(userAgent, {
    type: device.type,
    os: os.name,
    osVersion: os.version,
    browser: browser.name,
    browserVersion: browser.version,
    isCrawler: isbot(userAgent),
    fields: undefined,
  });
}

/** The list of known crawlers takes as long as all else together, so only the usual words are looked for. */
function guessDevice(userAgent: string): Device {
  const isCrawler = isbotNaive(userAgent);
  return deviceOf(userAgent, { os: osByWords(userAgent), isCrawler, fields: null });
}

function deviceOf(userAgent: string, parsed: Parsed): Device {
  const { type, os = "", osVersion = "", browser = "", browserVersion = "", fields } = parsed;
  const isBot = userAgent === "" || parsed.isCrawler;
  return {
    deviceType: isBot ? "bot" : deviceTypeOf(type, os, userAgent),
    os: osName(os),
    osVersion,
    browser: browserName(browser),
    browserVersion,
    isBot,
    isHeadless: HEADLESS.test(userAgent),
    missingUa: userAgent === "",
    fields,
  };
}

function osByWords(userAgent: string): string {
  if (userAgent.includes("Android")) return "Android";
  if (/iPhone|iPad|iPod/.test(userAgent)) return "iOS";
  if (userAgent.includes("Windows NT")) return "Windows";
  if (userAgent.includes("Mac OS X")) return "Mac OS";
  return userAgent.includes("Linux") ? "Linux" : "";
}

function deviceTypeOf(type: string | undefined, os: string, userAgent: string): DeviceType {
  if (type === "mobile" || type === "tablet") return type;
  // Televisions, consoles, watches and cars.
  if (type !== undefined) return "other";
  if (/^(android|ios|windows phone|harmonyos)$/i.test(os)) {
    return /mobi/i.test(userAgent) ? "mobile" : "tablet";
  }
  return DESKTOP_OS.test(os) ? "desktop" : "other";
}

function osName(name: string): string {
  return name === "Mac OS" ? "macOS" : name;
}

/** One name for each browser, so that an offer for Safari also matches Safari on a telephone: the device field has the rest. */
function browserName(name: string): string {
  return name.replace(/^Mobile /, "").replace(/ (Mobile|Headless|WebView)$/, "");
}
