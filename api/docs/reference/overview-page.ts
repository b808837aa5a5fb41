import { escapeMarkup } from "../../../schemas/macros/escape-markup.ts";
import { asObject, asText, type Json } from "../../operation/json-object.ts";
import { codeSamples } from "./code-samples.ts";
import type { DescribedOperation } from "./described-operation.ts";
import { commandOf, FIRST_STEPS, type FirstStep } from "./first-steps.ts";
import { codeBlock, inlineProse, prose } from "./html.ts";
import { methodMark, samplesOf } from "./operation-section.ts";

/** The resources of one group with their operations and the addresses of their pages. */
export type ListedGroup = {
  readonly title: string;
  readonly pages: readonly {
    readonly title: string;
    readonly path: string;
    readonly operations: readonly DescribedOperation[];
  }[];
};

/** Sections of the overview: id and title, in their order. */
export const OVERVIEW_SECTIONS = [
  ["address-and-key", "Address and key"],
  ["first-steps", "First steps"],
  ["rules", "Rules of every call"],
  ["calls", "All calls"],
] as const;

/** The first page of the reference. */
export function overviewPage(
  document: Json,
  groups: readonly ListedGroup[],
  baseUrl: string,
): string {
  const info = asObject(document["info"]);
  return `<h1>${escapeMarkup(asText(info["title"]))}</h1>${prose(asText(info["description"]))}
<p>The same description as OpenAPI 3.1, for client generators: <a href="/api/v1/openapi.json">openapi.json</a>. How visitors,
advertisers and pages use the tracking domain is in the <a href="/docs">guide</a>.</p>
${addressAndKey(baseUrl)}${firstSteps(groups, baseUrl)}${RULES}${allCalls(groups)}`;
}

function heading(id: (typeof OVERVIEW_SECTIONS)[number][0]): string {
  const [, title] = OVERVIEW_SECTIONS.find(([name]) => name === id) ?? [id, id];
  return `<h2>${title}</h2>`;
}

function addressAndKey(baseUrl: string): string {
  const call = { method: "GET", path: "/me", needsKey: true };
  return `<section id="address-and-key">${heading("address-and-key")}
<p>The address of this API is <code>${escapeMarkup(baseUrl)}</code>. Every call sends a key. A key has one of four roles:
<code>admin</code> reads and writes, <code>analyst</code> reads, <code>partner</code> and <code>advertiser</code> see their own
records. The samples read the key from the environment variable <code>API_KEY</code>.</p>
${samplesOf(codeSamples(call, baseUrl))}</section>`;
}

function firstSteps(groups: readonly ListedGroup[], baseUrl: string): string {
  const addresses = new Map(
    groups.flatMap(({ pages }) =>
      pages.flatMap(({ path, operations }) =>
        operations.map(({ id, name }): [string, Link] => [id, { href: `${path}#${id}`, name }]),
      ),
    ),
  );
  const steps = FIRST_STEPS.flatMap((step) => {
    const link = addresses.get(step.operationId);
    return link === undefined ? [] : [stepItem(step, link)];
  });
  const variables = `API=${baseUrl}\nKEY=<your admin key>\nTRACKING_SCHEME=https\nTRACKING_HOST=go.example.com`;
  const visit = `curl -si "$TRACKING_SCHEME://$TRACKING_HOST/r/$OFFER_CODE/$AFFILIATE_CODE?sub1=hello"   # click_id is in the Location
curl -s "$TRACKING_SCHEME://$TRACKING_HOST/pb?token=$ADVERTISER_TOKEN&click_id=<click_id>&txid=order-1"`;
  return `<section id="first-steps">${heading("first-steps")}
<p>These steps build a network up to its first report. The first admin key comes from the command line
(<code>npm run tracker -- workspace create --name "My network"</code>), that of the demo is in
<code>.data/demo.json</code>. Run these in a shell. The tracking host is the address that visitors open.</p>
${codeBlock("sh", variables)}
<ol class="steps">${steps.join("")}
<li><strong>Send a visitor, and report a purchase</strong>
${codeBlock("sh", visit)}
The second line is what the advertiser's server calls for each sale.</li></ol></section>`;
}

type Link = { readonly href: string; readonly name: string };

function stepItem(step: FirstStep, { href, name }: Link): string {
  const keeps = Object.entries(step.keeps ?? {});
  const kept = keeps.map(([variable, field]) => `\n${variable}=…   # data.${field} of the answer`);
  return `<li><strong>${escapeMarkup(step.title)}</strong> (<a href="${href}">${escapeMarkup(name)}</a>)
${codeBlock("sh", commandOf(step) + kept.join(""))}
${step.note === undefined ? "" : inlineProse(step.note)}</li>`;
}

function allCalls(groups: readonly ListedGroup[]): string {
  const parts = groups.map(({ title, pages }) => {
    const lists = pages.map(({ title: name, path, operations }) => {
      const items = operations.map(
        ({ id, method, name: text }) =>
          `<li>${methodMark(method)}<a href="${path}#${escapeMarkup(id)}">${escapeMarkup(text)}</a></li>`,
      );
      return `<div><h4><a href="${path}">${escapeMarkup(name)}</a></h4><ul>${items.join("")}</ul></div>`;
    });
    return `<h3>${escapeMarkup(title)}</h3><div class="calls">${lists.join("")}</div>`;
  });
  return `<section id="calls">${heading("calls")}${parts.join("")}</section>`;
}

const RULES = `<section id="rules">${heading("rules")}
<table>
<tr><th>Key</th><td><code>Authorization: Bearer &lt;API_KEY&gt;</code>. A record that a key may not see answers 404.</td></tr>
<tr><th>Bodies</th><td>JSON with <code>Content-Type: application/json</code>, at most 1 MiB. Unknown fields are refused, and every wrong
field is named in <code>error.details.fields</code>.</td></tr>
<tr><th>Answers</th><td>One record: <code>{"data": {…}}</code>. A list: <code>{"data": […], "next_cursor": …}</code>; send
<code>cursor=&lt;next_cursor&gt;</code> for the next page until it is <code>null</code>.</td></tr>
<tr><th>Money, times</th><td>Money is text with four decimals (<code>"12.5000"</code>), never a number. Times are UTC:
<code>2025-01-31T10:00:00.000Z</code>.</td></tr>
<tr><th>Ranges</th><td><code>from</code>, <code>to</code>, <code>tz</code> or <code>preset</code> (<code>today</code>,
<code>last7</code>, …); dates are days in <code>tz</code>.</td></tr>
<tr><th>Failures</th><td><code>{"error": {"code", "message", "details"}}</code>. <a href="/api/v1/docs/errors">Codes</a> are stable, messages
are for people. After 429 and 503 wait <code>Retry-After</code> seconds.</td></tr>
<tr><th>Budget</th><td><code>X-RateLimit-Limit</code> requests a minute and key; <code>X-RateLimit-Remaining</code> are left,
<code>X-RateLimit-Reset</code> seconds until the next minute.</td></tr>
<tr><th>Support</th><td>Every answer has an <code>X-Request-Id</code>, by which it can be found in the log.</td></tr>
</table></section>`;
