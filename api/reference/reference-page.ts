import { createHash } from "node:crypto";
import { escapeMarkup } from "../../schemas/macros/escape-markup.ts";
import { asObject, asText, type Json } from "../rest/openapi-schemas.ts";
import { commandOf, FIRST_STEPS, type FirstStep } from "./first-steps.ts";
import { inlineProse, prose } from "./html.ts";
import { type DescribedOperation, operationSection, operationsOf } from "./operation-section.ts";
import { schemaTable } from "./schema-table.ts";
import { STYLE } from "./style.ts";

/** Allows no scripts and no resources other than the inline style. */
export const REFERENCE_PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The reference page: our OpenAPI document as one HTML page that works without network and scripts (G04). */
export function referencePage(document: Json): string {
  const info = asObject(document["info"]);
  const operations = operationsOf(document);
  const tags = Array.isArray(document["tags"]) ? document["tags"].map(asObject) : [];
  const schemas = Object.entries(asObject(asObject(document["components"])["schemas"]));
  const ofTag = (tag: Json): DescribedOperation[] =>
    operations.filter((operation) => operation.tag === tag["name"]);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeMarkup(asText(info["title"]))}</title><style>${STYLE}</style></head>
<body><div class="page"><nav>
<a href="#first-steps">First steps</a><a href="#rules">Rules of every call</a>
${tags.map((tag) => menuOf(tag, ofTag(tag))).join("")}
<b>Schemas</b>${schemas.map(([name]) => `<a href="#schema-${escapeMarkup(name)}">${escapeMarkup(name)}</a>`).join("")}
</nav><main>
<h1>${escapeMarkup(asText(info["title"]))}</h1>${prose(asText(info["description"]))}
<p>The same document as OpenAPI 3.1, for client generators: <a href="openapi.json">openapi.json</a>.</p>
${firstSteps(document, operations)}
${RULES}
${tags
  .map(
    (tag) => `<h2 id="tag-${escapeMarkup(slugOf(tag))}">${escapeMarkup(asText(tag["name"]))}</h2>
${prose(asText(tag["description"]))}${ofTag(tag)
  .map((operation) => operationSection(document, operation))
  .join("")}`,
  )
  .join("")}
<h2>Schemas</h2>
${schemas
  .map(
    ([name, schema]) =>
      `<article id="schema-${escapeMarkup(name)}"><h3>${escapeMarkup(name)}</h3>${schemaTable(asObject(schema))}</article>`,
  )
  .join("")}
</main></div></body></html>
`;
}

function slugOf(tag: Json): string {
  return asText(tag["name"]).toLowerCase().replaceAll(" ", "-");
}

function menuOf(tag: Json, operations: readonly DescribedOperation[]): string {
  const links = operations.map(
    ({ id, method, path }) =>
      `<a href="#${escapeMarkup(id)}"><span class="method">${method}</span>${escapeMarkup(path)}</a>`,
  );
  return `<b>${escapeMarkup(asText(tag["name"]))}</b>${links.join("")}`;
}

function firstSteps(document: Json, operations: readonly DescribedOperation[]): string {
  const known = new Set(operations.map(({ id }) => id));
  const servers = Array.isArray(document["servers"]) ? document["servers"].map(asObject) : [];
  const steps = FIRST_STEPS.filter(({ operationId }) => known.has(operationId));
  return `<h2 id="first-steps">First steps</h2>
<p>These steps build a network up to its first report. The first admin key comes from the command line
(<code>npm run tracker -- workspace create --name "My network"</code>), that of the demo is in
<code>.data/demo.json</code>. Run these in a shell. The tracking host is the address that visitors open.</p>
<pre><code>API=${escapeMarkup(asText(servers[0]?.["url"]))}
KEY=&lt;your admin key&gt;
TRACKING_SCHEME=https
TRACKING_HOST=go.example.com</code></pre>
<ol class="steps">${steps.map(stepItem).join("")}
<li><strong>Send a visitor, and report a purchase</strong>
<pre><code>curl -si "$TRACKING_SCHEME://$TRACKING_HOST/r/$OFFER_CODE/$AFFILIATE_CODE?sub1=hello"   # click_id is in the Location
curl -s "$TRACKING_SCHEME://$TRACKING_HOST/pb?token=$ADVERTISER_TOKEN&amp;click_id=&lt;click_id&gt;&amp;txid=order-1"</code></pre>
The second line is what the advertiser's server calls for each sale.</li></ol>`;
}

function stepItem(step: FirstStep): string {
  const keeps = Object.entries(step.keeps ?? {});
  const kept = keeps.map(([name, field]) => `${name}=…   # data.${field} of the answer`).join("\n");
  return `<li><strong>${escapeMarkup(step.title)}</strong> (<a href="#${escapeMarkup(step.operationId)}">${escapeMarkup(step.operationId)}</a>)
<pre><code>${escapeMarkup(commandOf(step))}${kept === "" ? "" : `\n${escapeMarkup(kept)}`}</code></pre>
${step.note === undefined ? "" : inlineProse(step.note)}</li>`;
}

const RULES = `<h2 id="rules">Rules of every call</h2>
<table>
<tr><td>Key</td><td><code>Authorization: Bearer &lt;API_KEY&gt;</code>. A key has one of four roles: <code>admin</code> reads and
writes, <code>analyst</code> reads, <code>partner</code> and <code>advertiser</code> see their own records. A record that a key may not see answers 404.</td></tr>
<tr><td>Bodies</td><td>JSON with <code>Content-Type: application/json</code>, at most 1 MiB. Unknown fields are refused, and every wrong
field is named in <code>error.details.fields</code>.</td></tr>
<tr><td>Answers</td><td>One record: <code>{"data": {…}}</code>. A list: <code>{"data": […], "next_cursor": …}</code>; send
<code>cursor=&lt;next_cursor&gt;</code> for the next page until it is <code>null</code>.</td></tr>
<tr><td>Money, times</td><td>Money is text with four decimals (<code>"12.5000"</code>), never a number. Times are UTC:
<code>2025-01-31T10:00:00.000Z</code>.</td></tr>
<tr><td>Ranges</td><td><code>from</code>, <code>to</code>, <code>tz</code> or <code>preset</code> (<code>today</code>,
<code>last7</code>, …); dates are days in <code>tz</code>.</td></tr>
<tr><td>Failures</td><td><code>{"error": {"code", "message", "details"}}</code>. Codes are stable, messages are for people. After 429
and 503 wait <code>Retry-After</code> seconds.</td></tr>
<tr><td>Budget</td><td><code>X-RateLimit-Limit</code> requests a minute and key; <code>X-RateLimit-Remaining</code> are left,
<code>X-RateLimit-Reset</code> seconds until the next minute.</td></tr>
<tr><td>Support</td><td>Every answer has an <code>X-Request-Id</code>, by which it can be found in the log.</td></tr>
</table>`;
