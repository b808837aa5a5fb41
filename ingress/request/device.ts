import { isbot } from "isbot";
import parseUserAgent from "my-ua-parser";
import { BoundedCache } from "./bounded-cache.ts";

/** Longer user agents are cut before they are parsed and kept: they cost time and memory that a visitor chooses. */
export const USER_AGENT_LENGTH_MAX = 1_024;
const USER_AGENTS_REMEMBERED_MAX = 20_000;

export const DEVICE_TYPES = ["desktop", "mobile", "tablet", "bot", "other"] as const;
export type DeviceType = (typeof DEVICE_TYPES)[number];

/** What a user agent says of itself (G155); texts are "" when it does not say. */
export type Device = {
  readonly deviceType: DeviceType;
  readonly os: string;
  readonly osVersion: string;
  readonly browser: string;
  readonly browserVersion: string;
  readonly isBot: boolean;
  readonly isHeadless: boolean;
  readonly missingUa: boolean;
};

export type DeviceReader = {
  /** `userAgent` is at most {@link USER_AGENT_LENGTH_MAX} long. */
  readonly read: (userAgent: string) => Device;
};

const HEADLESS = /HeadlessChrome|PhantomJS|Puppeteer|Playwright|SlimerJS|Headless/i;
/** Systems that people sit before; a television or a console says what it is. */
const DESKTOP_OS =
  /^(windows|mac os|gnu|linux|ubuntu|debian|fedora|chromium os|chrome os|freebsd|openbsd|netbsd|solaris|arch|centos|gentoo|mint|suse|redhat|mageia|mandriva|manjaro)$/i;

/** Parsing costs 15 to 100 µs and a look-up 0.1 µs: answers are kept in a bounded memory. */
export function openDevices(): DeviceReader {
  const known = new BoundedCache<Device>(USER_AGENTS_REMEMBERED_MAX);
  return {
    read: (userAgent) => {
      const remembered = known.get(userAgent);
      if (remembered !== undefined) return remembered;
      const device = readDevice(userAgent);
      known.set(userAgent, device);
      return device;
    },
  };
}

function readDevice(userAgent: string): Device {
  const { browser, os, device } = parseUserAgent(userAgent);
  const isBot = userAgent === "" || isbot(userAgent);
  return {
    deviceType: isBot ? "bot" : deviceTypeOf(device.type, os.name ?? "", userAgent),
    os: osName(os.name ?? ""),
    osVersion: os.version ?? "",
    browser: browserName(browser.name ?? ""),
    browserVersion: browser.version ?? "",
    isBot,
    isHeadless: HEADLESS.test(userAgent),
    missingUa: userAgent === "",
  };
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

/** One name a browser, so that an offer for Safari is one for Safari on a telephone too; the device says the rest. */
function browserName(name: string): string {
  return name.replace(/^Mobile /, "").replace(/ (Mobile|Headless|WebView)$/, "");
}
