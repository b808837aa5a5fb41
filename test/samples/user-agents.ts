/*
 * Real user agents, and what the service must derive from them (G155).
 */

const BLINK = "AppleWebKit/537.36 (KHTML, like Gecko)";
const WEBKIT = "AppleWebKit/605.1.15 (KHTML, like Gecko)";

export const DESKTOP_CHROME = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${BLINK} Chrome/126.0.0.0 Safari/537.36`;
export const FIREFOX =
  "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0";
export const IPHONE = `Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) ${WEBKIT} Version/17.5 Mobile/15E148 Safari/604.1`;
export const PIXEL = `Mozilla/5.0 (Linux; Android 14; Pixel 8) ${BLINK} Chrome/126.0.0.0 Mobile Safari/537.36`;
export const GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";

type DeviceCase = readonly [userAgent: string, deviceType: string, os: string, browser: string];

export const DEVICES: readonly DeviceCase[] = [
  [DESKTOP_CHROME, "desktop", "Windows", "Chrome"],
  [`${DESKTOP_CHROME} Edg/126.0.0.0`, "desktop", "Windows", "Edge"],
  [
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Version/17.5 Safari/605.1.15`,
    "desktop",
    "macOS",
    "Safari",
  ],
  [FIREFOX, "desktop", "Ubuntu", "Firefox"],
  [
    `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${BLINK} Chrome/126.0.0.0 Safari/537.36`,
    "desktop",
    "Chromium OS",
    "Chrome",
  ],
  [IPHONE, "mobile", "iOS", "Safari"],
  [
    `Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) ${WEBKIT} Version/16.6 Mobile/15E148 Safari/604.1`,
    "tablet",
    "iOS",
    "Safari",
  ],
  [PIXEL, "mobile", "Android", "Chrome"],
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
];

/** An empty user agent counts as a bot. */
export const BOTS = [
  "",
  GOOGLEBOT,
  `Mozilla/5.0 ${BLINK}; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36`,
  "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
  "curl/8.5.0",
  "python-requests/2.31.0",
];

export const HEADLESS_BROWSERS = [
  "HeadlessChrome/126.0.0.0",
  "PhantomJS/2.1.1",
  "Puppeteer",
  "Playwright/1.45",
].map((mark) => `Mozilla/5.0 (X11; Linux x86_64) ${BLINK} ${mark} Safari/537.36`);
