/** Characters of an IBAN by country, as the registry of ISO 13616 lists them. */
const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18
   FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20
   LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24
   SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30`
    .split(/\s+/)
    .map((entry): [string, number] => [entry.slice(0, 2), Number(entry.slice(2))]),
);
const IBAN_FORM = /^[A-Z]{2}\d{2}[A-Z0-9]+$/;
const BIC_FORM = /^[A-Z]{4}([A-Z]{2})[A-Z0-9]{2}(?:[A-Z0-9]{3})?$/;
const LETTER_VALUES_FROM = 55;
const CHECK_MODULUS = 97;

/** Without spaces, in capital letters. */
export function plainBankCode(text: string): string {
  return text.replaceAll(/\s/g, "").toUpperCase();
}

/** Why a text without spaces is no IBAN; undefined if it is. */
export function ibanFault(iban: string): string | undefined {
  if (!IBAN_FORM.test(iban)) return "expected an IBAN such as DE89 3704 0044 0532 0130 00";
  const country = iban.slice(0, 2);
  const length = IBAN_LENGTHS.get(country);
  if (length === undefined) return `no country with an IBAN begins with ${country}`;
  if (iban.length !== length)
    return `an IBAN of ${country} has ${length} characters, and this has ${iban.length}`;
  return checkSum(iban) === 1 ? undefined : "a character is wrong: its check digits do not fit";
}

/** Whether a text has the form of ISO 9362. */
export function isBic(text: string): boolean {
  return BIC_FORM.test(text);
}

/** ISO 7064 over the IBAN with its first four characters at the end; letters count from A = 10. */
function checkSum(iban: string): number {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const isLetter = character >= "A";
    const value = isLetter ? character.charCodeAt(0) - LETTER_VALUES_FROM : Number(character);
    rest = (rest * (isLetter ? 100 : 10) + value) % CHECK_MODULUS;
  }
  return rest;
}
