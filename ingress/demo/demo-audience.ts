import type { DemoStream } from "./demo-streams.ts";

type Country = {
  readonly country: string;
  readonly weight: number;
  readonly hoursFromUtc: number;
  readonly language: string;
};

const GERMANY = { country: "DE", hoursFromUtc: 1, language: "de-DE,de;q=0.9,en;q=0.5" };
const AUSTRIA = { country: "AT", hoursFromUtc: 1, language: "de-AT,de;q=0.9" };
const SWITZERLAND = { country: "CH", hoursFromUtc: 1, language: "de-CH,de;q=0.9,fr;q=0.6" };
const NETHERLANDS = { country: "NL", hoursFromUtc: 1, language: "nl-NL,nl;q=0.9,en;q=0.7" };
const FRANCE = { country: "FR", hoursFromUtc: 1, language: "fr-FR,fr;q=0.9" };
const SPAIN = { country: "ES", hoursFromUtc: 1, language: "es-ES,es;q=0.9" };
const POLAND = { country: "PL", hoursFromUtc: 1, language: "pl-PL,pl;q=0.9" };
const BRITAIN = { country: "GB", hoursFromUtc: 0, language: "en-GB,en;q=0.9" };
const UNITED_STATES = { country: "US", hoursFromUtc: -6, language: "en-US,en;q=0.9" };
const CANADA = { country: "CA", hoursFromUtc: -5, language: "en-CA,en;q=0.9,fr-CA;q=0.4" };
const BRAZIL = { country: "BR", hoursFromUtc: -3, language: "pt-BR,pt;q=0.9" };
const INDIA = { country: "IN", hoursFromUtc: 5.5, language: "en-IN,hi;q=0.8" };

export const DEMO_AUDIENCES: Readonly<Record<DemoStream["audience"], readonly Country[]>> = {
  german: [
    { ...GERMANY, weight: 76 },
    { ...AUSTRIA, weight: 12 },
    { ...SWITZERLAND, weight: 9 },
    { ...NETHERLANDS, weight: 3 },
  ],
  european: [
    { ...GERMANY, weight: 28 },
    { ...BRITAIN, weight: 22 },
    { ...FRANCE, weight: 16 },
    { ...NETHERLANDS, weight: 12 },
    { ...SPAIN, weight: 12 },
    { ...POLAND, weight: 10 },
  ],
  american: [
    { ...UNITED_STATES, weight: 84 },
    { ...CANADA, weight: 11 },
    { ...BRITAIN, weight: 5 },
  ],
  global: [
    { ...UNITED_STATES, weight: 30 },
    { ...INDIA, weight: 22 },
    { ...BRAZIL, weight: 18 },
    { ...BRITAIN, weight: 10 },
    { ...GERMANY, weight: 10 },
    { ...POLAND, weight: 10 },
  ],
};

/** Share of a day's visits in each hour of local time, as weights: quiet nights, a lunch break, a busy evening. */
const HOURS = [
  14, 8, 5, 4, 4, 6, 14, 28, 42, 50, 54, 58, 66, 60, 54, 54, 58, 66, 78, 90, 98, 92, 66, 34,
];
export const DEMO_HOURS: readonly { readonly hour: number; readonly weight: number }[] = HOURS.map(
  (weight, hour) => ({ hour, weight }),
);

type Browser = { readonly userAgent: string; readonly weight: number };

const BLINK = "AppleWebKit/537.36 (KHTML, like Gecko)";
const WEBKIT = "AppleWebKit/605.1.15 (KHTML, like Gecko)";
const WINDOWS = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${BLINK}`;
const MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)";

export const DEMO_DESKTOPS: readonly Browser[] = [
  { userAgent: `${WINDOWS} Chrome/142.0.0.0 Safari/537.36`, weight: 34 },
  { userAgent: `${WINDOWS} Chrome/141.0.0.0 Safari/537.36`, weight: 12 },
  { userAgent: `${WINDOWS} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`, weight: 14 },
  { userAgent: `${MAC} ${WEBKIT} Version/26.1 Safari/605.1.15`, weight: 14 },
  { userAgent: `${MAC} ${BLINK} Chrome/142.0.0.0 Safari/537.36`, weight: 10 },
  {
    userAgent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0",
    weight: 9,
  },
  {
    userAgent: "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
    weight: 3,
  },
];

export const DEMO_MOBILES: readonly Browser[] = [
  {
    userAgent: `Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) ${WEBKIT} Version/26.1 Mobile/15E148 Safari/604.1`,
    weight: 33,
  },
  {
    userAgent: `Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) ${WEBKIT} Version/17.6 Mobile/15E148 Safari/604.1`,
    weight: 10,
  },
  {
    userAgent: `Mozilla/5.0 (Linux; Android 10; K) ${BLINK} Chrome/142.0.0.0 Mobile Safari/537.36`,
    weight: 38,
  },
  {
    userAgent: `Mozilla/5.0 (Linux; Android 14; SM-S921B) ${BLINK} SamsungBrowser/29.0 Chrome/136.0.0.0 Mobile Safari/537.36`,
    weight: 11,
  },
  {
    userAgent: `Mozilla/5.0 (iPad; CPU OS 18_7 like Mac OS X) ${WEBKIT} Version/26.1 Mobile/15E148 Safari/604.1`,
    weight: 8,
  },
];

export const DEMO_BOTS: readonly Browser[] = [
  {
    userAgent: "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    weight: 40,
  },
  {
    userAgent: "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
    weight: 20,
  },
  {
    userAgent: "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    weight: 20,
  },
  { userAgent: "python-requests/2.32.3", weight: 12 },
  { userAgent: "", weight: 8 },
];
