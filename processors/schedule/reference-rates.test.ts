import { expect, test } from "vitest";
import { parseReferenceRates } from "./reference-rates.ts";

const XML = `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
  <gesmes:subject>Reference rates</gesmes:subject>
  <gesmes:Sender><gesmes:name>European Central Bank</gesmes:name></gesmes:Sender>
  <Cube>
    <Cube time='2026-01-02'>
      <Cube currency='USD' rate='1.1721'/>
      <Cube currency='JPY' rate='183.99'/>
    </Cube>
    <Cube time="2025-12-31">
      <Cube currency="USD" rate="1.175"/>
    </Cube>
  </Cube>
</gesmes:Envelope>`;

test("the XML of one day and of many is read (G76)", () => {
  expect(parseReferenceRates(XML)).toEqual([
    { date: "2026-01-02", currency: "USD", rate: "1.1721" },
    { date: "2026-01-02", currency: "JPY", rate: "183.99" },
    { date: "2025-12-31", currency: "USD", rate: "1.175" },
  ]);
});

test("the CSV of one day and of many is read (G76)", () => {
  const daily = "Date, USD, JPY, \n02 January 2026, 1.1721, 183.99, \n";
  expect(parseReferenceRates(daily)).toEqual([
    { date: "2026-01-02", currency: "USD", rate: "1.1721" },
    { date: "2026-01-02", currency: "JPY", rate: "183.99" },
  ]);
  const history = "Date,USD,CYP,\r\n2026-01-02,1.1721,N/A,\r\n2025-12-31,1.175,N/A,\r\n";
  expect(parseReferenceRates(history)).toEqual([
    { date: "2026-01-02", currency: "USD", rate: "1.1721" },
    { date: "2025-12-31", currency: "USD", rate: "1.175" },
  ]);
});

test.each([
  "",
  "<html><body>moved</body></html>",
  "not a table",
  "Date,USD\n2026-01-02,-1.5",
  "Date,USD\n2026-01-02,0.000",
  "Date,USD\n2026-01-02,1e3",
  "Date,usd\n2026-01-02,1.5",
  "Date,USD\n31 Foo 2026,1.5",
  "<Cube time='yesterday'><Cube currency='USD' rate='1.5'/></Cube>",
])("text that is not a rate yields no rate: %j", (text) => {
  expect(parseReferenceRates(text)).toEqual([]);
});
