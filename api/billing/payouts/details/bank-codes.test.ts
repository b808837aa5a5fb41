import fc from "fast-check";
import { expect, test } from "vitest";
import { ibanFault, isBic, plainBankCode } from "./bank-codes.ts";

/** Published examples of the registry. */
const EXAMPLES =
  `DE89370400440532013000 GB29NWBK60161331926819 FR1420041010050500013M02606 NL91ABNA0417164300 AT611904300234573201
  BE68539007547034 CH9300762011623852957 ES9121000418450200051332 IT60X0542811101000000123456 PL61109010140000071219812874
  NO9386011117947 MT84MALT011000012345MTLCAST001S SE4550000000058398257466 PT50000201231234567890154 LU280019400644750000
  GR1601101250000000012300695 CZ6508000000192000145399 DK5000400440116243 FI2112345600000785 SA0380000000608010167519`.split(
    /\s+/,
  );
const LENGTHS: Readonly<Record<string, number>> = { DE: 22, FR: 27, NO: 15, MT: 31, BE: 16 };

const accounts = fc
  .record({
    country: fc.constantFrom(...Object.keys(LENGTHS)),
    digits: fc.stringMatching(/^[0-9A-Z]{27}$/),
  })
  .map(({ country, digits }) =>
    withCheckDigits(country, digits.slice(0, (LENGTHS[country] ?? 0) - 4)),
  );

/** Computed with a number as large as it needs, unlike the check. */
function withCheckDigits(country: string, account: string): string {
  const digits = `${account}${country}00`.replaceAll(/[A-Z]/g, (letter) =>
    String(letter.charCodeAt(0) - 55),
  );
  return `${country}${(98n - (BigInt(digits) % 97n)).toString().padStart(2, "0")}${account}`;
}

test("published IBANs are accepted, with spaces and in small letters (N32)", () => {
  for (const iban of EXAMPLES) expect(ibanFault(iban), iban).toBeUndefined();
  expect(plainBankCode("de89 3704 0044 0532 0130 00")).toBe(EXAMPLES[0]);
});

test("200 right IBANs are accepted, and each with one wrong character is refused (N32)", () => {
  fc.assert(
    fc.property(
      accounts,
      fc.nat(),
      fc.constantFrom(..."0 1 2 3 4 5 6 7 8 9".split(" ")),
      (iban, place, digit) => {
        expect(ibanFault(iban)).toBeUndefined();
        const at = 4 + (place % (iban.length - 4));
        fc.pre(iban[at] !== digit && /\d/.test(iban[at] ?? ""));
        expect(ibanFault(iban.slice(0, at) + digit + iban.slice(at + 1))).toContain("check digits");
      },
    ),
    { numRuns: 200 },
  );
});

test("200 IBANs with a character too many or too few, or of no country, are refused (N32)", () => {
  fc.assert(
    fc.property(accounts, fc.boolean(), (iban, isLonger) => {
      expect(ibanFault(isLonger ? `${iban}0` : iban.slice(0, -1))).toContain("characters");
      expect(ibanFault(`US${iban.slice(2)}`)).toContain("no country");
    }),
    { numRuns: 200 },
  );
  for (const text of ["", "DE", "DE89…3000", "DE8937040044053201300é"])
    expect(ibanFault(text), text).toContain("expected an IBAN");
});

test.each([
  ["COBADEFF", true],
  ["COBADEFFXXX", true],
  ["COBADEF", false],
  ["COBADEFFXX", false],
  ["C0BADEFF", false],
  ["cobadeff", false],
])("the form of BIC %s: %s (N32)", (bic, isRight) => {
  expect(isBic(bic)).toBe(isRight);
});
