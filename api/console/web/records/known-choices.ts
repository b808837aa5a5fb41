import type { Choice, LoadChoices } from "../client/choices.ts";
import { codeName } from "../format/code-names.ts";
import { formatCountry } from "../format/country.ts";
import { formatLanguage } from "../format/language.ts";
import { REASON_CHOICES } from "../format/value-words.ts";

/** Countries of ISO 3166, and Kosovo by the letters that it is given in practice. */
const COUNTRIES = `
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD
CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF
GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN
KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA
NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI
SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI
VN VU WF WS YE YT ZA ZM ZW XK`;
/** Languages of ISO 639-1. */
const LANGUAGES = `
aa ab af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cv cy da de dv dz ee el en eo es et eu fa ff fi
fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ig ii ik is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv
kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt
qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz
ve vi vo wa wo xh yi yo za zh zu`;
const SYSTEMS = [
  "Android",
  "iOS",
  "Windows",
  "Mac OS",
  "Linux",
  "Chromium OS",
  "Ubuntu",
  "HarmonyOS",
];
const BROWSERS = [
  "Chrome",
  "Mobile Chrome",
  "Safari",
  "Mobile Safari",
  "Firefox",
  "Mobile Firefox",
  "Edge",
  "Opera",
  "Samsung Internet",
  "Chrome WebView",
  "Facebook",
  "Instagram",
  "TikTok",
];

/** Choices that need no request. */
function known(
  name: string,
  list: () => readonly Choice[],
  more: Partial<LoadChoices> = {},
): LoadChoices {
  let choices: readonly Choice[] | undefined;
  const all = (): readonly Choice[] => (choices ??= list());
  return {
    name,
    load: async () => await Promise.resolve({ choices: all(), isWhole: true }),
    wordsOf: (value) => all().find(([one]) => one === value)?.[1] ?? value,
    ...more,
  };
}

function byWords(choices: readonly Choice[]): readonly Choice[] {
  return choices.toSorted(([, a], [, b]) => a.localeCompare(b));
}

/** Countries by their two letters. */
export const countryChoices = known("countries", () =>
  byWords(
    COUNTRIES.trim()
      .split(/\s+/)
      .map((code): Choice => [code, formatCountry(code), code]),
  ),
);

/** Languages by their two letters. */
export const languageChoices = known("languages", () =>
  byWords(
    LANGUAGES.trim()
      .split(/\s+/)
      .map((code): Choice => [code, formatLanguage(code), code]),
  ),
);
/** Languages of visitors, which may also be those of one country, such as `pt-BR`. */
export const visitorLanguageChoices: LoadChoices = {
  ...languageChoices,
  wordsOf: formatLanguage,
  takesText: true,
};

/** Time zones by the names of the IANA. */
export const zoneChoices = known("zones", () =>
  [...new Set(["UTC", ...Intl.supportedValuesOf("timeZone")])].map(
    (zone): Choice => [zone, zone.replaceAll("_", " "), zone],
  ),
);

/** Currencies by their three letters. */
export const currencyChoices = known("currencies", () =>
  byWords(
    Intl.supportedValuesOf("currency").map(
      (code): Choice => [code, codeName("currency", code), code],
    ),
  ),
);

/** Why conversions have their state. The rules of a workspace and notes of its staff are further reasons. */
export const reasonChoices = known("reasons", () => REASON_CHOICES, { takesText: true });

/** Operating systems and browsers, as clicks name them. There are more than these. */
export const systemChoices = known("systems", () => SYSTEMS.map((one): Choice => [one, one]), {
  takesText: true,
});
export const browserChoices = known("browsers", () => BROWSERS.map((one): Choice => [one, one]), {
  takesText: true,
});
