/** Names of the parts of documents. */
export type DocumentWords = Readonly<
  Record<
    | "number"
    | "issued"
    | "due"
    | "period"
    | "from"
    | "to"
    | "line"
    | "count"
    | "amount"
    | "vatId"
    | "page",
    string
  >
>;

const ENGLISH: DocumentWords = {
  number: "Number",
  issued: "Date",
  due: "Due",
  period: "Period",
  from: "From",
  to: "To",
  line: "Item",
  count: "Count",
  amount: "Amount",
  vatId: "VAT ID",
  page: "Page",
};
const GERMAN: DocumentWords = {
  number: "Nummer",
  issued: "Datum",
  due: "Fällig",
  period: "Zeitraum",
  from: "Von",
  to: "An",
  line: "Position",
  count: "Anzahl",
  amount: "Betrag",
  vatId: "USt-IdNr.",
  page: "Seite",
};

/** English for a language that has no words here. */
export function wordsOf(language: string): DocumentWords {
  return language === "de" ? GERMAN : ENGLISH;
}
