import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { z } from "zod";
import { commandOf, FIRST_STEPS } from "../../api/docs/reference/first-steps.ts";
import { operations } from "../../api/operations.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { escapeMarkup } from "../../schemas/macros/escape-markup.ts";
import { expectDescribed } from "../system/described-answers.ts";
import type { System } from "../system/start-system.ts";
import { until } from "../system/until.ts";

const Answer = z.looseObject({ data: z.unknown().optional(), error: z.unknown().optional() });
const Fields = z.record(z.string(), z.unknown());
const Me = z.object({ data: z.object({ key: z.object({ role: z.string() }) }) });
const Report = z.object({ data: z.array(z.looseObject({ conversions: z.number() })) });

/** How many API answers were checked against the OpenAPI document. */
let checked = 0;

/**
 * Follows the first steps of the reference page in a new workspace, as a reader types them, up to a sale in the partner's report. Returns
 * how many answers of the API were checked against the OpenAPI document.
 */
export async function followFirstSteps(system: System): Promise<number> {
  const { demo } = system.client;
  const page = await system.client.attempt(`${demo.base_url}/docs`);
  const shown = page.body.replaceAll(/<\/?span[^>]*>/g, "");
  const tracking = new URL(demo.tracking_url);
  // The demo workspace already uses the address itself as its host (G200).
  tracking.hostname = "localhost";
  const kept: Record<string, string> = {
    API: demo.base_url,
    KEY: await makeWorkspace(system.dataDir),
    TRACKING_SCHEME: "http",
    TRACKING_HOST: tracking.host,
  };
  const known = FIRST_STEPS.filter((step) =>
    operations.some(({ name }) => name === step.operationId),
  );
  expect(known.length).toBeGreaterThanOrEqual(10);
  for (const step of known) {
    const command = commandOf(step);
    expect(shown).toContain(escapeMarkup(command));
    const answer = Answer.parse(JSON.parse(await shell(command, kept)));
    expect([step.title, answer.error]).toEqual([step.title, undefined]);
    for (const [variable, field] of Object.entries(step.keeps ?? {})) {
      kept[variable] = asPlain(Fields.parse(answer.data)[field]);
      expect(kept[variable], variable).not.toBe("");
    }
  }
  for (const role of ["partner", "advertiser", "analyst", "admin"]) {
    const key = kept[`${role.toUpperCase()}_KEY`] ?? "";
    const me = await shell(`curl -s -H "Authorization: Bearer ${key}" "$API/me"`, kept);
    expect(Me.parse(JSON.parse(me)).data.key.role).toBe(role);
  }
  const offer = await shell(
    'curl -s -H "Authorization: Bearer $PARTNER_KEY" "$API/offers/$OFFER_ID"',
    kept,
  );
  const { OFFER_CODE: code = "", AFFILIATE_CODE: partner = "" } = kept;
  const link = `http://${tracking.host}/r/${code}/${partner}`;
  expect(Fields.parse(Answer.parse(JSON.parse(offer)).data)["tracking_link"]).toBe(link);
  await sellOnce(kept);
  expect(checked).toBeGreaterThan(known.length);
  for (const path of ["/sdk.js", `/i?o=${code}&a=${partner}`, `/lp?o=${code}`, "/px?click_id=x"]) {
    const { status } = await system.client.attempt(`${demo.tracking_url}${path}`);
    expect([path, [401, 403].includes(status)]).toEqual([path, false]);
  }
  return checked;
}

function asPlain(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Creates a workspace by the command line, as the page says. Returns the first admin key. */
async function makeWorkspace(dataDir: string): Promise<string> {
  const tracker = projectFile(".build", "api", "tracker.js");
  const printed = await shell(
    `"${process.execPath}" "${tracker}" workspace create --name "My network"`,
    {
      DATA_DIR: dataDir,
    },
  );
  return /trk_live_\w{40}/.exec(printed)?.[0] ?? "";
}

/** The last step: a visitor uses the new link and buys, and the partner's report shows the sale. */
async function sellOnce(kept: Record<string, string>): Promise<void> {
  const visit = `curl -si "$TRACKING_SCHEME://$TRACKING_HOST/r/$OFFER_CODE/$AFFILIATE_CODE?sub1=hello"`;
  const timeoutMs = 10_000;
  const clickId = await until(
    "the new link redirects to the shop",
    async () => /shop\.example\/\?click=([0-9a-f]{32})/.exec(await shell(visit, kept))?.[1],
    { timeoutMs },
  );
  const sale = `curl -s "$TRACKING_SCHEME://$TRACKING_HOST/pb?token=$ADVERTISER_TOKEN&click_id=${clickId}&txid=order-1"`;
  await until("the sale is accepted", async () => (await shell(sale, kept)).includes('"ok"'), {
    timeoutMs,
  });
  const report = `curl -s -H "Authorization: Bearer $PARTNER_KEY" "$API/reports?preset=today&group_by=offer"`;
  await until(
    "the partner's report has the sale",
    async () => Report.parse(JSON.parse(await shell(report, kept))).data[0]?.conversions === 1,
    { timeoutMs },
  );
}

/** Runs a command as a reader would type it, and checks each answer of the API against the OpenAPI document. */
async function shell(command: string, variables: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tracker-curl-"));
  try {
    const headersFile = join(folder, "headers");
    await writeFile(
      join(folder, ".curlrc"),
      `dump-header = "${headersFile}"\nwrite-out = "%{stderr}%{method} %{url_effective}\\n"\n`,
    );
    const env = { ...process.env, ...variables, CURL_HOME: folder };
    const { stdout, stderr } = await promisify(execFile)("sh", ["-c", command], { env });
    const [, method = "", url = ""] = /^([A-Z]+) (http\S+)$/m.exec(stderr) ?? [];
    const { API: api } = variables;
    if (api !== undefined && url.startsWith(api)) {
      const path = url.slice(api.length);
      expectDescribed({
        method,
        path,
        ...(await seenHeaders(headersFile)),
        body: JSON.parse(stdout),
      });
      checked += 1;
    }
    return stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function seenHeaders(file: string) {
  const [first = "", ...lines] = (await readFile(file, "utf8")).trimEnd().split("\r\n");
  const headers = new Headers(
    lines.filter(Boolean).map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const status = Number(first.split(" ")[1]);
  return { status, headers, contentType: headers.get("content-type") ?? "" };
}
