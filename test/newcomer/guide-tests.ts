import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { projectFile } from "../../schemas/host/project-root.ts";
import { type Received, type Receiver, startReceiver } from "../integration/outgoing/receiver.ts";
import {
  comparable,
  GUIDE_PAGES,
  type GuideExample,
  readExamples,
  withoutIds,
} from "../system/guide-examples.ts";
import { freePort, type System } from "../system/start-system.ts";
import { until } from "../system/until.ts";
import {
  isInstalled,
  RECEIVER_START_MS,
  RECEIVERS,
  type ReceiverLanguage,
  signatureHeader,
  startGuideReceiver,
  typeFaults,
} from "./guide-receivers.ts";
import { GuideShell } from "./guide-shell.ts";

/** Hosts of the guide's examples that the test answers for. */
const OTHER_PARTIES = /https:\/\/(?:partner|crm)\.example/g;
const SEEN_TIMEOUT_MS = 20_000;
/** How often a block is run that changes a setting and then waits until it is in force. */
const RUNS_MAX = 5;
/** Pages run in test/browser, receivers of webhooks in a test of their own. */
const RUN_ELSEWHERE = new Set(["html", "js", "ts", "python", "php", "go"]);

const Webhook = z.object({ data: z.object({ id: z.int(), secret: z.string() }) });
const Deliveries = z.object({
  data: z.array(z.object({ status: z.string(), response_status: z.int().nullable() })),
});

/** The tests of the integration guide, on a service that lets postbacks reach this machine. */
export function describeGuide(system: System): void {
  test.each(GUIDE_PAGES)("each command of the guide's page %s answers as shown", async (page) => {
    expect(await runPage(system, page)).toBeGreaterThan(0);
  });

  test("only the commands that start a server are not run, and every page has an example", async () => {
    const apiOrigin = originOf(system);
    const pages = await Promise.all(GUIDE_PAGES.map((page) => readExamples(apiOrigin, page)));
    expect(pages.filter((examples) => examples.length === 0)).toEqual([]);
    const manual = pages.flat().filter(({ marks }) => marks.includes("manual"));
    expect(manual.map(({ text }) => text.trim())).toEqual([
      "python3 -m http.server 9000 --bind 127.0.0.1",
      "TRUSTED_PROXIES=127.0.0.1/32 npm start",
      "caddy reverse-proxy --internal-certs --from https://localhost:8443 --to 127.0.0.1:8080",
    ]);
    const languages = new Set(pages.flat().map(({ language }) => language));
    expect([...languages].toSorted()).toEqual(
      [...RUN_ELSEWHERE, "sh", "json", "http", "text"].toSorted(),
    );
  });

  test("the guide needs no key, is compressed and cached, and loads nothing from elsewhere (G04)", async () => {
    const apiOrigin = originOf(system);
    const url = `${apiOrigin}/docs/postback`;
    const first = await fetch(url, { headers: { "accept-encoding": "br" } });
    const etag = first.headers.get("etag") ?? "";
    const again = await fetch(url, { headers: { "if-none-match": etag } });
    expect([first.status, first.headers.get("content-encoding"), again.status]).toEqual([
      200,
      "br",
      304,
    ]);
    expect(first.headers.get("cache-control")).toBe("public, max-age=300");
    expect(first.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';.* connect-src 'self';/,
    );
    const html = await first.text();
    const loaded = [...html.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"]+)"/g)];
    const addresses = loaded.map(([, address = ""]) => address).filter((one) => one !== "data:,");
    expect(addresses.length).toBeGreaterThan(2);
    for (const address of addresses) {
      expect(address).toMatch(/^\//);
      expect([address, (await fetch(`${apiOrigin}${address}`)).status]).toEqual([address, 200]);
    }
    expect(html).not.toMatch(/<script>|<style>| on\w+=/);
    expect(html).not.toContain(system.client.demo.postback_token);
  });
}

/** A test of the guide's webhook receiver in each language, on the same service. */
export function describeReceivers(system: System, languages: readonly ReceiverLanguage[]): void {
  describe.each(languages)("the guide's webhook receiver in %s", (language) => {
    test.skipIf(!isInstalled(RECEIVERS[language].name))(
      "accepts the service's events and nothing forged or late (WH-003)",
      { timeout: 2 * RECEIVER_START_MS },
      async () => {
        const source = await receiverIn(originOf(system), language);
        expect(language === "ts" ? typeFaults(source) : []).toEqual([]);
        await expectOnlyGenuine(system, language, source);
      },
    );
  });
}

/** As `npm start` does after the traffic of the demo, which tests leave out. */
async function makeMonthEnd({ dataDir }: System): Promise<void> {
  const program = projectFile(".build", "api", "tracker.js");
  await promisify(execFile)(process.execPath, [program, "demo", "month-end"], {
    env: { ...process.env, DATA_DIR: dataDir },
  });
}

function originOf({ client }: System): string {
  return new URL(client.demo.base_url).origin;
}

/** Runs the commands of a page. Returns how many answers were compared with what the page shows. */
async function runPage(system: System, page: (typeof GUIDE_PAGES)[number]): Promise<number> {
  const apiOrigin = originOf(system);
  const examples = await readExamples(apiOrigin, page);
  const { postback_token, keys } = system.client.demo;
  if (page === "month-end") await makeMonthEnd(system);
  await using receiver = await startReceiver();
  await using shell = await GuideShell.open(system.dataDir, {
    POSTBACK_TOKEN: postback_token,
    ADMIN_KEY: keys.admin,
    PARTNER_KEY: keys.partner,
  });
  const ours = (text: string): string =>
    text.replaceAll(OTHER_PARTIES, `http://127.0.0.1:${receiver.port}`);
  let compared = 0;
  for (const [index, { language, marks, text }] of examples.entries()) {
    if (marks.includes("manual") || RUN_ELSEWHERE.has(language)) continue;
    if (marks.includes("received")) await expectReceived(receiver, text);
    if (language !== "sh") continue;
    const shown = shownAfter(examples, index);
    await runUntilShown(shell, ours(text), shown && { ...shown, text: ours(shown.text) });
    compared += shown === undefined ? 0 : 1;
  }
  return compared;
}

/** Starts the receiver, and sends it a sample of the service and events that are forged, late or without signature. */
async function expectOnlyGenuine(
  system: System,
  language: ReceiverLanguage,
  source: string,
): Promise<void> {
  const { client } = system;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const webhook = { name: language, url, events: ["conversion.updated"] };
  const { id, secret } = Webhook.parse(await client.create("/webhooks", webhook)).data;
  const folder = await mkdtemp(join(tmpdir(), "tracker-receiver-"));
  try {
    await using _receiver = await startGuideReceiver(language, source, {
      folder,
      port,
      secret,
    });
    await client.create(`/webhooks/${id}/test`, { event: "conversion.updated" });
    const sample = await until(
      "the sample is sent",
      async () => {
        const { data } = Deliveries.parse(await client.rest(`/webhooks/${id}/deliveries`));
        return data.find(({ status }) => status !== "pending");
      },
      { timeoutMs: SEEN_TIMEOUT_MS },
    );
    expect(sample).toEqual({ status: "delivered", response_status: 204 });
    const body = JSON.stringify({ id: "1", event: "conversion.updated", note: "größer" });
    const now = Date.now();
    const send = async (signature: string, sent = body): Promise<number> =>
      (await client.attempt(url, { "x-tracker-signature": signature }, sent)).status;
    expect([
      await send(signatureHeader(secret, body, now)),
      await send(signatureHeader(secret, body, now), body.replace("1", "2")),
      await send(signatureHeader("whsec_other", body, now)),
      await send(signatureHeader(secret, body, now - 301_000)),
      await send(signatureHeader(secret, body, now).replace("v1=", "v1=0")),
      await send(""),
    ]).toEqual([204, 400, 400, 400, 400, 400]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function receiverIn(apiOrigin: string, language: ReceiverLanguage): Promise<string> {
  const examples = await readExamples(apiOrigin, "webhooks");
  const found = examples.filter(
    (one) => one.language === language && one.marks.includes("webhook"),
  );
  expect(found).toHaveLength(1);
  return found[0]?.text ?? "";
}

/** The answer that the page shows below a command; undefined if the next block is no answer. */
function shownAfter(examples: readonly GuideExample[], index: number): GuideExample | undefined {
  const next = examples[index + 1];
  const isAnswer = next !== undefined && ["json", "http", "text"].includes(next.language);
  return isAnswer && !next.marks.includes("received") ? next : undefined;
}

/** Runs a command. If it only reads, or waits for a setting itself, it is repeated until it shows what the page says. */
async function runUntilShown(
  shell: GuideShell,
  command: string,
  shown: GuideExample | undefined,
): Promise<void> {
  const isRead = /Authorization/.test(command) && !/ -d |\/pb\?| -X /.test(command);
  const runsMax = isRead || /^sleep /m.test(command) ? RUNS_MAX : 1;
  for (let run = 1; ; run += 1) {
    const output = await shell.run(run === 1 ? command : `sleep 1\n${command}`);
    if (shown === undefined) return;
    try {
      expectShown(command, output, shown);
      return;
    } catch (error) {
      if (run >= runsMax) throw error;
    }
  }
}

function expectShown(
  command: string,
  output: string,
  { language, marks, text }: GuideExample,
): void {
  const lines = (written: string): string[] => withoutIds(written).trim().split(/\r?\n/);
  switch (language) {
    case "json":
      if (marks.includes("part"))
        expect(comparable(output), command).toMatchObject(Object(comparable(text)));
      else expect(comparable(output), command).toEqual(comparable(text));
      break;
    case "http":
      expect(lines(output), command).toEqual(expect.arrayContaining(lines(text)));
      break;
    default:
      expect(lines(output), command).toEqual(lines(text));
  }
}

/** Waits for the request that the page shows, and compares its shown headers and its body. */
async function expectReceived(receiver: Receiver, text: string): Promise<void> {
  const [head = "", ...rest] = text.trim().split("\n\n");
  const [start = "", ...headers] = head.split("\n");
  const request = await until(
    `a request ${start}`,
    () => receiver.received.find(({ method, target }) => `${method} ${target}` === start),
    { timeoutMs: SEEN_TIMEOUT_MS },
  );
  const seen = headers.map((line) => {
    const name = line.slice(0, line.indexOf(":"));
    return withoutIds(`${name}: ${headerOf(request, name)}`);
  });
  expect(seen).toEqual(headers.map(withoutIds));
  const body = rest.join("\n\n");
  expect(comparable(body === "" ? "null" : request.body)).toEqual(comparable(body || "null"));
}

function headerOf({ headers }: Received, name: string): string {
  return String(headers[name.toLowerCase()]);
}
