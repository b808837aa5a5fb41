import { expect, test } from "vitest";
import { DESKTOP_CHROME } from "../../test/samples/a-request.ts";
import { openDevices } from "./device.ts";

const devices = openDevices();
const WEBKIT = "AppleWebKit/605.1.15 (KHTML, like Gecko)";
const BLINK = "AppleWebKit/537.36 (KHTML, like Gecko)";

test.each([
  [DESKTOP_CHROME, "desktop", "Windows", "Chrome"],
  [
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Version/17.0 Safari/605.1.15`,
    "desktop",
    "macOS",
    "Safari",
  ],
  [
    "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0",
    "desktop",
    "Ubuntu",
    "Firefox",
  ],
  [
    `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${BLINK} Chrome/126.0.0.0 Safari/537.36`,
    "desktop",
    "Chromium OS",
    "Chrome",
  ],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) ${WEBKIT} Version/17.1 Mobile/15E148 Safari/604.1`,
    "mobile",
    "iOS",
    "Safari",
  ],
  [
    `Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) ${WEBKIT} Version/16.6 Mobile/15E148 Safari/604.1`,
    "tablet",
    "iOS",
    "Safari",
  ],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${BLINK} Chrome/126.0.0.0 Mobile Safari/537.36`,
    "mobile",
    "Android",
    "Chrome",
  ],
  [
    `Mozilla/5.0 (Linux; Android 13; SM-X900) ${BLINK} Chrome/126.0.0.0 Safari/537.36`,
    "tablet",
    "Android",
    "Chrome",
  ],
  [
    `Mozilla/5.0 (SMART-TV; Linux; Tizen 5.0) ${BLINK} Version/5.0 TV Safari/537.36`,
    "other",
    "Tizen",
    "Safari",
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${BLINK} Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0`,
    "desktop",
    "Windows",
    "Edge",
  ],
])("%s is a %s with %s and %s", (userAgent, deviceType, os, browser) => {
  const device = devices.read(userAgent);
  expect(device).toMatchObject({ deviceType, os, browser, isBot: false, missingUa: false });
});

test.each([
  "",
  "curl/8.1.2",
  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
])("%j is a bot", (userAgent) => {
  const missingUa = userAgent === "";
  expect(devices.read(userAgent)).toMatchObject({ deviceType: "bot", isBot: true, missingUa });
});

test.each(["HeadlessChrome/126.0.0.0", "PhantomJS/2.1.1", "Puppeteer", "Playwright/1.40"])(
  "%s is headless",
  (mark) => {
    const userAgent = `Mozilla/5.0 (X11; Linux x86_64) ${BLINK} ${mark} Safari/537.36`;
    expect(devices.read(userAgent).isHeadless).toBe(true);
    expect(devices.read(DESKTOP_CHROME).isHeadless).toBe(false);
  },
);

test("a second reading of a user agent is the remembered one", () => {
  expect(devices.read(DESKTOP_CHROME)).toBe(devices.read(DESKTOP_CHROME));
});
