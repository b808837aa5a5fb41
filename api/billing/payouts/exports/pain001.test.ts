import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { validateXML } from "xmllint-wasm";
import { isSepaName, sepaText } from "../details/sepa-text.ts";
import { pain001 } from "./pain001.ts";

const SCHEMA = readFileSync("test/samples/pain.001.001.09.xsd", "utf8");
const line = {
  affiliate_code: "ANNA",
  affiliate_name: "Anna",
  method: "wire" as const,
  currency: "EUR",
  statements: ["S-2026-1"],
};

test("SEPA transfers are valid by the schema of ISO 20022, and their sum is that of the lines (N54)", async () => {
  const address = { street: "Hauptstraße 1", postcode: "10115", town: "Köln", country: "DE" };
  const details = {
    holder: 'Müller <&> "Söhne"',
    iban: "DE89370400440532013000",
    bic: "COBADEFF",
    address,
  };
  const text = pain001({
    runId: 12,
    approvedAt: "2026-12-01T10:00:00.000Z",
    executionDate: "2026-12-15",
    debtor: { name: "Ads & Söhne", iban: "NL91ABNA0417164300" },
    lines: [
      { ...line, reference: "P12L55", amount: "1840.5500", details },
      {
        ...line,
        reference: "P12L56",
        amount: "0.1000",
        details: { holder: "Ω", iban: details.iban },
      },
    ],
  });
  expect(text).toContain("<CtrlSum>1840.65</CtrlSum>");
  const result = await validateXML({ xml: text, schema: SCHEMA });
  expect(result.errors).toEqual([]);
});

test("texts keep to the characters that every bank of SEPA accepts (N54)", () => {
  expect(sepaText("Ads & Söhne — Łódź", 70)).toBe("Ads + Sohne . Lodz");
  expect(sepaText("a".repeat(200), 70)).toHaveLength(70);
  expect(sepaText("Γιώργος Παπαδόπουλος", 70)).toBe("Giorgos Papadopoylos");
  expect(sepaText("Щукин Юрий Ёлкин", 70)).toBe("Shchukin Iurii Elkin");
  expect(["Ω", "Žižek", "李", "—", ""].map(isSepaName)).toEqual([true, true, false, false, false]);
});
