import { request } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import fastify from "fastify";
import { expect, test } from "vitest";
import { z } from "zod";
import { buildOpenApi } from "../../../api/docs/openapi/openapi.ts";
import {
  FRAME_SCRIPT,
  FRAME_STYLE,
  SEARCH_INDEX,
} from "../../../api/docs/page-frame/page-frame.ts";
import { resourceOf } from "../../../api/docs/reference/reference-groups.ts";
import { referenceTexts } from "../../../api/docs/reference/reference-pages.ts";
import { BASE_PATH } from "../../../api/http/server.ts";
import { operations } from "../../../api/operations.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { API_URL, ApiWorld, refusal } from "./api-world.ts";

const FIRST_LOAD_BYTES_MAX = 150 * 1024;
const ROOT = "/api/v1/docs";
/** IDs of decisions and requirements, which readers do not have: G142, T43, N100, P30, TRK-001. */
const INTERNAL_ID = /\b(?:[GTN]\d{1,3}|P\d{1,2}|(?!SHA-)[A-Z]{3}-\d{3})\b/g;
const Entries = z.array(z.tuple([z.string(), z.string(), z.string(), z.string()]));

const world = await forThisFile(ApiWorld.open());
const overview = await read(ROOT);
/** Path → HTML, of every page that the sidebar names. */
const pages = new Map([[ROOT, overview.text]]);
for (const path of new Set(hrefsOf(overview.text).map(withoutHash)))
  if (path.startsWith(`${ROOT}/`)) pages.set(path, (await read(path)).text);

type Read = {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** As they were sent. */
  readonly bytes: number;
  readonly text: string;
};

/** Reads without a key and without decompression by the client. */
async function read(path: string, headers: Record<string, string> = { "accept-encoding": "br" }) {
  return await new Promise<Read>((resolve, reject) => {
    const sent = request(`${world.origin}${path}`, { headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("error", reject);
      answer.on("end", () => {
        const body = Buffer.concat(parts);
        const coding = answer.headers["content-encoding"];
        const plain =
          coding === "br"
            ? brotliDecompressSync(body)
            : coding === "gzip"
              ? gunzipSync(body)
              : body;
        const { statusCode: status = 0, headers: seen } = answer;
        resolve({ status, headers: seen, bytes: body.length, text: plain.toString() });
      });
    });
    sent.on("error", reject).end();
  });
}

function hrefsOf(html: string): string[] {
  return [...html.matchAll(/href="([^"]+)"/g)].map(([, href = ""]) =>
    href.replaceAll("&#39;", "'"),
  );
}

function withoutHash(href: string): string {
  return href.split("#", 1)[0] ?? "";
}

test("every operation has a page of its resource, with its name and samples in three languages (G04)", () => {
  expect(pages.size).toBeGreaterThan(25);
  for (const { name, path, summary } of operations) {
    const page = resourceOf(path)?.page ?? "";
    expect(page, `${name}: add its path to api/docs/reference/reference-groups.ts`).not.toBe("");
    const [, section = ""] =
      new RegExp(`<section class="operation" id="${name}">([\\s\\S]*?)</section>`).exec(
        pages.get(`${ROOT}/${page}`) ?? "",
      ) ?? [];
    expect(section, name).toContain(`>${summary.replaceAll("'", "&#39;")}</a></h2>`);
    for (const language of ["sh", "ts", "python"])
      expect(section, name).toContain(`<code class="language-${language}">`);
    expect(overview.text).toContain(`href="${ROOT}/${page}#${name}"`);
    expect(summary, "a name begins with a verb and has no end").toMatch(/^[A-Z][a-z]+ .*[^.]$/);
  }
});

test("the first texts of a process are byte for byte those of a document that is built at once", async () => {
  const document = buildOpenApi({ operations, baseUrl: `${API_URL}${BASE_PATH}` });
  const expected = fastify();
  const texts = referenceTexts(() => document, BASE_PATH);
  for (const { path, text } of texts)
    expected.get(`${BASE_PATH}${path}`, (asked, reply) => text.send(asked, reply));
  const origin = await world.startAnother();
  const served = async (path: string): Promise<string> =>
    await (await fetch(`${origin}${BASE_PATH}${path}`)).text();
  const paths = texts.map(({ path }) => path);
  const [json, ...got] = await Promise.all(["/openapi.json", ...paths].map(served));
  expect(json === JSON.stringify(document)).toBe(true);
  for (const [at, path] of paths.entries()) {
    const { payload } = await expected.inject(`${BASE_PATH}${path}`);
    expect([path, got[at] === payload]).toEqual([path, true]);
  }
  await expected.close();
});

test("pages need no key, and allow no inline script or style and no other origin (G04)", async () => {
  for (const [path, html] of pages) {
    const answer = await read(path);
    expect([path, answer.status, answer.headers["content-type"]]).toEqual([
      path,
      200,
      "text/html; charset=utf-8",
    ]);
    expect(answer.headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(html).not.toMatch(/<style|<script>|<img|<iframe|\sstyle=|\son\w+="/i);
    const sources = [...html.matchAll(/<(?:script src|link rel="stylesheet" href)="([^"]+)"/g)];
    expect(sources.map(([, source]) => source)).toEqual([FRAME_STYLE, FRAME_SCRIPT]);
  }
  expect(refusal(await world.call("GET", "/docs", { key: "nonsense" }))).toBe(
    "401 invalid_api_key",
  );
});

test("every link and every result of the search leads to a place that exists", async () => {
  const index = Entries.parse(JSON.parse((await read(SEARCH_INDEX)).text));
  expect(index.length).toBeGreaterThan(500);
  const links = [...pages.values()].flatMap(hrefsOf);
  const targets = new Set([...links, ...index.map(([href]) => href)]);
  expect(targets.size).toBeGreaterThan(700);
  for (const target of targets) {
    const [path = "", id] = target.split("#");
    const html = pages.get(path);
    if (!path.startsWith(ROOT) || id === undefined) continue;
    expect(html, target).toBeDefined();
    expect(html?.includes(`id="${id}"`), target).toBe(true);
  }
});

test("readers see no ID of a decision or a requirement, and the OpenAPI document has none", async () => {
  const document = (await read("/api/v1/openapi.json")).text;
  for (const [path, text] of [...pages, ["/api/v1/openapi.json", document] as const]) {
    const found = [...text.matchAll(INTERNAL_ID)].map(([id]) => id);
    expect([path, [...new Set(found)]]).toEqual([path, []]);
  }
});

test("the first load of each page is at most 150 KB, compressed; repeated loads answer 304", async () => {
  const assets = await Promise.all(
    [FRAME_STYLE, FRAME_SCRIPT].map(async (path) => await read(path)),
  );
  const shared = assets.reduce((sum, { bytes }) => sum + bytes, 0);
  const loads: [bytes: number, path: string][] = [];
  for (const path of pages.keys()) {
    const { bytes, headers } = await read(path);
    expect([path, headers["content-encoding"], headers["vary"]]).toEqual([
      path,
      "br",
      "accept-encoding",
    ]);
    loads.push([bytes + shared, path]);
    const again = await read(path, { "if-none-match": String(headers["etag"]) });
    expect([path, again.status, again.bytes]).toEqual([path, 304, 0]);
  }
  const [largest = [0, ""]] = loads.toSorted(([a], [b]) => b - a);
  process.stderr.write(`largest first load: ${largest[0]} bytes, ${largest[1]}\n`);
  expect(largest[0]).toBeLessThanOrEqual(FIRST_LOAD_BYTES_MAX);
});

test("the OpenAPI document, the search and the assets are compressed in the coding that the client accepts", async () => {
  for (const path of ["/api/v1/openapi.json", SEARCH_INDEX, FRAME_STYLE, FRAME_SCRIPT, ROOT]) {
    const plain = await read(path, {});
    expect([path, plain.headers["content-encoding"]]).toEqual([path, undefined]);
    for (const [accepted, coding] of [
      ["gzip, deflate, br", "br"],
      ["gzip", "gzip"],
      ["br;q=0, gzip;q=0.5", "gzip"],
      ["identity", undefined],
    ] as const) {
      const answer = await read(path, { "accept-encoding": accepted });
      expect([path, accepted, answer.headers["content-encoding"]]).toEqual([
        path,
        accepted,
        coding,
      ]);
      expect(answer.text).toBe(plain.text);
      const bytesMax = coding === undefined ? plain.bytes : plain.bytes / 2;
      expect(answer.bytes).toBeLessThanOrEqual(bytesMax);
    }
  }
});
