import { type BillingDocument, linesOfParty } from "./billing-document.ts";
import { wordsOf } from "./document-words.ts";

const STYLE = `body{font:14px/1.5 "Noto Sans",system-ui,sans-serif;color:#1a1a1a;background:#fff;max-width:46rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem;margin:0 0 1rem}dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0 0 1.5rem}dt{color:#555}dd{margin:0}
.parties{display:grid;grid-template-columns:1fr 1fr;gap:1rem;margin-bottom:1.5rem}.parties h2{font-size:.85rem;color:#555;margin:0}
table{border-collapse:collapse;width:100%}th,td{padding:.3rem .4rem;border-bottom:1px solid #ddd;text-align:left}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}tfoot td{border-bottom:0}tfoot tr.main td{font-weight:700;border-top:2px solid #1a1a1a}`;

/** One page without a script and without anything from elsewhere. */
export function documentHtml(document: BillingDocument): string {
  const words = wordsOf(document.language);
  const facts = [
    [words.number, document.number],
    [words.issued, document.issued_on],
    [words.period, periodText(document)],
    [words.due, document.due_on],
  ];
  const party = (title: string, lines: readonly string[]): string =>
    `<div><h2>${escaped(title)}</h2>${lines.map((line) => `<div>${escaped(line)}</div>`).join("")}</div>`;
  const money = (amount: string): string => `${escaped(amount)} ${escaped(document.currency)}`;
  return `<!doctype html>
<html lang="${escaped(document.language)}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(`${document.title} ${document.number}`)}</title><style>${STYLE}</style></head><body>
<h1>${escaped(document.title)}</h1>
<dl>${facts.map(([name = "", value = ""]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`).join("")}</dl>
<div class="parties">${party(words.from, linesOfParty(document.issuer, words))}${party(words.to, linesOfParty(document.recipient, words))}</div>
<table><thead><tr><th>${escaped(words.line)}</th><th class="n">${escaped(words.count)}</th><th class="n">${escaped(words.amount)}</th></tr></thead>
<tbody>${document.lines
    .map(
      ({ text, count, amount }) =>
        `<tr><td>${escaped(text)}</td><td class="n">${count}</td><td class="n">${money(amount)}</td></tr>`,
    )
    .join("\n")}</tbody>
<tfoot>${document.totals
    .map(
      ({ text, amount, is_main }) =>
        `<tr${is_main ? ' class="main"' : ""}><td colspan="2">${escaped(text)}</td><td class="n">${money(amount)}</td></tr>`,
    )
    .join("\n")}</tfoot></table>
${document.notes.map((note) => `<p>${escaped(note)}</p>`).join("\n")}
</body></html>
`;
}

export function periodText({ period }: BillingDocument): string {
  return `${period.from} – ${period.to} (${period.tz})`;
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
