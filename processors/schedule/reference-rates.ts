/** Units of a currency for 1 EUR on a day, as decimal text. */
export type ReferenceRate = {
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly currency: string;
  readonly rate: string;
};

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const CURRENCY = /^[A-Z]{3}$/;
const RATE = /^\d{1,13}(?:\.\d{1,10})?$/;
const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

/**
 * Reads the daily reference rates of the European Central Bank, or of a provider with its formats: XML (`<Cube time>` around `<Cube
 * currency rate>`) or CSV (`Date, USD, JPY, …`). Cells without a rate ("N/A") are left out.
 */
export function parseReferenceRates(text: string): ReferenceRate[] {
  const rates = /^[\s\ufeff]*</.test(text) ? parseXml(text) : parseCsv(text);
  return rates.filter(
    ({ date, currency, rate }) =>
      DAY.test(date) && CURRENCY.test(currency) && RATE.test(rate) && /[1-9]/.test(rate),
  );
}

function parseXml(text: string): ReferenceRate[] {
  const rates: ReferenceRate[] = [];
  let date = "";
  for (const [, attributes = ""] of text.matchAll(/<Cube\s([^<>]{1,200})>/g)) {
    date = attributeOf(attributes, "time") ?? date;
    const currency = attributeOf(attributes, "currency");
    const rate = attributeOf(attributes, "rate");
    if (currency !== undefined && rate !== undefined) rates.push({ date, currency, rate });
  }
  return rates;
}

function attributeOf(attributes: string, name: string): string | undefined {
  return new RegExp(`(?:^|\\s)${name}=["']([^"']*)["']`).exec(attributes)?.[1];
}

function parseCsv(text: string): ReferenceRate[] {
  const [head = [], ...days] = text
    .split(/\r?\n/)
    .map((line) => line.split(",").map((cell) => cell.trim().replace(/^"(.*)"$/, "$1")));
  if (head[0]?.toLowerCase() !== "date") return [];
  return days.flatMap(([day = "", ...cells]) =>
    cells.map((rate, index) => ({ date: isoDay(day), currency: head[index + 1] ?? "", rate })),
  );
}

/** `2 January 2026` in the daily file, an ISO day in the others. */
function isoDay(text: string): string {
  const match = /^(\d{1,2}) ([A-Za-z]{3})[a-z]* (\d{4})$/.exec(text);
  if (match === null) return text;
  const [, day = "", month = "", year = ""] = match;
  const number = MONTHS.indexOf(month.toLowerCase()) + 1;
  return number === 0 ? "" : `${year}-${String(number).padStart(2, "0")}-${day.padStart(2, "0")}`;
}
