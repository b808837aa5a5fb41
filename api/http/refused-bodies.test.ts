import { fastify } from "fastify";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { processorTimeRatio, processorTimeRatioOf } from "../../test/samples/processor-time.ts";
import { text } from "../fields/body-fields.ts";
import { ApiError, validationFailed } from "../operation/errors.ts";
import { operations } from "../operations.ts";
import { csvCosts } from "../traffic/ad-costs/csv-costs.ts";
import { addJsonBodies } from "./json-body.ts";
import { problemBody } from "./problem.ts";
import { faultsOf } from "./request-input.ts";

const BYTES = 1024 ** 2;
/** Cost of a refused body in texts of its size. */
const LIMIT = 1.5;
const ESCAPED = String.raw`\u0041`;
const ANSWER_CHARACTERS_MAX = 20_000;

/** Repeats `unit` between `head` and `tail` up to a size. */
function filled(
  head: string,
  unit: (index: number) => string,
  tail: string,
  bytes = BYTES,
): string {
  const parts: string[] = [];
  let left = bytes - head.length - tail.length;
  for (let part = unit(0); part.length <= left; part = unit(parts.length)) {
    parts.push(part);
    left -= part.length;
  }
  return head + parts.join("").replace(/,$/, "") + tail;
}

function textOf(bytes: number): string {
  return filled('{"name":"', () => "x", '"}', bytes);
}

/** The bodies of operations, by a server that has nothing but them. */
const app = fastify({ bodyLimit: BYTES });
app.removeAllContentTypeParsers();
addJsonBodies(app);
app.setErrorHandler((error, _request, reply) => {
  if (error instanceof ApiError)
    return reply.code(error.status).send(JSON.stringify(problemBody(error)));
  const known = error instanceof Error && "statusCode" in error ? error.statusCode : 500;
  return reply.code(Number(known)).send("not JSON");
});
for (const operation of operations) {
  const { name, input } = operation;
  app.post(`/${name}`, { config: { operation } }, async ({ body }) => {
    const parsed = input.body?.safeParse(body);
    if (parsed?.success === false) throw validationFailed(faultsOf(parsed.error, body));
    return "accepted";
  });
}

async function send(name: string, payload: string) {
  const headers = { "content-type": "application/json" };
  return await app.inject({ method: "POST", url: `/${name}`, headers, payload });
}

async function expectCheap(name: string, payload: string): Promise<void> {
  const asText = textOf(Buffer.byteLength(payload));
  const answer = await send(name, payload);
  expect(answer.statusCode).toBe(400);
  expect(answer.body.length).toBeLessThan(ANSWER_CHARACTERS_MAX);
  const usual = async () => await send(name, asText);
  const other = async () => await send(name, payload);
  await usual();
  const limit = payload.includes(ESCAPED) ? LIMIT * decodingRatio(payload, asText) : LIMIT;
  expect(await processorTimeRatioOf({ usual, other }, limit)).toBeLessThan(limit);
}

/** How much longer the engine itself takes to decode escapes: 1.2 to 1.9 times, by the machine. */
function decodingRatio(escaped: string, plain: string): number {
  const parse = (json: string) => (): void => void JSON.parse(json);
  return Math.max(1, processorTimeRatio({ usual: parse(plain), other: parse(escaped) }, 0));
}

const BODIES: readonly (readonly [name: string, body: string])[] = [
  ["unknown fields", filled("{", (index) => `"f${index}":1,`, "}")],
  ["unknown fields of an object", filled('{"conditions":{', (index) => `"f${index}":1,`, "}}")],
  ["objects with unknown fields", filled('{"rows":[', (index) => `{"f${index}":1},`, "]}")],
  ["one unknown field again and again", filled("{", () => '"a":1,', "}")],
  ["one known field again and again", filled("{", () => '"name":1,', "}")],
  ["fields without a name", filled("{", () => '"":0,', "}")],
  ["__proto__ again and again", filled("{", () => '"__proto__":1,', "}")],
  ["__proto__ once", filled('{"__proto__":{},"name":"', () => "x", '"}')],
  ["a list of numbers", filled('{"tags":[', () => "1,", "]}")],
  ["a list of empty texts", filled('{"conditions":{"countries":[', () => '"",', "]}}")],
  ["a list of objects", filled('{"rows":[', () => "{},", "]}")],
  ["a list of lists", filled('{"tags":[', () => "[],", "]}")],
  ["lists in lists", `{"tags":${"[".repeat(500_000)}${"]".repeat(500_000)}}`],
  ["objects in objects", `{"conditions":${'{"a":'.repeat(150_000)}1${"}".repeat(150_000)}}`],
  ["brackets that nothing closes", "[".repeat(BYTES)],
  ["an object that nothing closes", filled("{", (index) => `"f${index}":1,`, "")],
  ["a long name of a field", filled('{"', () => "k", '":1}')],
  ["long names of fields", filled("{", (index) => `"${"k".repeat(1_000)}${index}":1,`, "}")],
  ["a long number", filled('{"name":', () => "1", "}")],
  ["escaped characters", filled('{"name":"', () => ESCAPED, '"}')],
  ["spaces", filled('{"name":', () => " ", '"x"}')],
  ["no object", filled("[", () => "1,", "]")],
];

describe("a refused body costs at most 1.5 times as much as a text of its size", () => {
  test.each(BODIES)("sign-in, which is open to anyone: %s (G213)", async (_name, body) => {
    await expectCheap("signIn", body);
  });

  test.each(BODIES)("a control with conditions: %s (G213)", async (_name, body) => {
    await expectCheap("createTrafficControl", body);
  });

  /** Entries of 95 to 200 bytes: as many as are taken make a body of about the greatest size. */
  const pad = "x".repeat(100);
  const rate = `{"date":"2025-13-31","currency":"USD","rate":"${pad}"},`;
  const cost = `{"date":"2025-13-31","currency":"USD","amount":"1","traffic_source":"${pad.slice(60)}"},`;
  const rule = `{"name":"${pad.repeat(80)}","offers":[${'{"offer_id":0},'.repeat(99)}1]},`;

  test.each([
    ["setFxRates", filled('{"rows":[', () => rate, "]}", 780_000)],
    ["setAdCosts", filled('{"rows":[', () => cost, "]}", 990_000)],
    ["createSmartLink", filled('{"rules":[', () => rule, "]}", 950_000)],
    ["replaceBlocklist", filled('{"entries":[', () => `"${pad.slice(10)} ",`, "]}", 930_000)],
  ])("%s with as many wrong entries as it takes right ones (G213)", async (name, body) => {
    await expectCheap(name, body);
  });

  const HEADER = "date,currency,amount\n";

  test.each([
    ["columns", filled("date", (index) => `,f${index}`, "")],
    ["commas", filled("date", () => ",", "")],
    ["empty lines", filled(HEADER, () => "\n", "")],
    ["short lines", filled(HEADER, () => "a\n", "")],
    ["lines of many cells", filled(HEADER, () => `${"a,".repeat(40)}\n`, "")],
    ["quotation marks", filled(HEADER, () => '""', "")],
    ["a cell of quotation marks", filled(`${HEADER}"`, () => '""', '"')],
    ["a cell that nothing closes", filled(`${HEADER}"`, () => "a\n", "")],
  ])("costs as CSV: %s (G213)", (_name, csv) => {
    const read = (given: string) => () => {
      try {
        csvCosts.read(given);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
      }
    };
    const usual = read(filled(HEADER, () => "x", ""));
    // A reader of CSV alone, without the text's way to it.
    expect(processorTimeRatio({ usual, other: read(csv) }, 4 * LIMIT)).toBeLessThan(4 * LIMIT);
  });
});

type ListOf = { readonly type?: unknown; readonly maxItems?: unknown };

/** Every schema within a schema, with the names that lead to it. */
function* schemasIn(
  schema: z.core.$ZodType,
  path: string,
): Generator<{ readonly schema: z.core.$ZodType; readonly path: string }> {
  yield { schema, path };
  if (schema instanceof z.ZodObject) {
    const shape: z.core.$ZodShape = schema.shape;
    for (const [name, field] of Object.entries(shape)) yield* schemasIn(field, `${path}.${name}`);
  }
  if (schema instanceof z.ZodArray) yield* schemasIn(schema.element, `${path}[]`);
  if (schema instanceof z.ZodUnion)
    for (const option of schema.options) yield* schemasIn(option, path);
  if (schema instanceof z.ZodPipe) yield* schemasIn(schema.in, path);
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
  )
    yield* schemasIn(schema.unwrap(), path);
}

const fields = operations.flatMap(({ name, input }) =>
  input.body === undefined ? [] : [...schemasIn(input.body, name)],
);

test("every list in a body has a maximum, and stops at its hundredth faulty entry (G213)", () => {
  const lists = fields.filter(({ schema }) => schema instanceof z.ZodArray);
  expect(lists.length).toBeGreaterThan(30);
  const unbounded = lists.filter(({ schema }) => {
    const { maxItems }: ListOf = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
    const { error } = z.safeParse(
      schema,
      Array.from({ length: 10_001 }, () => ({})),
    );
    return typeof maxItems !== "number" || error?.issues.length !== 1;
  });
  expect(unbounded.map(({ path }) => path)).toEqual([]);
});

/** Processor time of reading a text, the least of some rounds. */
function readingUs(schema: z.core.$ZodType, given: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round += 1) {
    const startedAt = process.cpuUsage();
    z.safeParse(schema, given);
    const { user, system } = process.cpuUsage(startedAt);
    least = Math.min(least, user + system);
  }
  return least;
}

test("no field takes long to refuse a text of 128 KiB (G213)", () => {
  const schemas = new Map(fields.map(({ schema, path }) => [schema, path]));
  const texts = ["x", "/a", "a.", "{a}"].map(
    (fill) => `https://${fill.repeat(2 ** 17 / fill.length)}`,
  );
  const [plain = ""] = texts;
  const limitUs = 10 * readingUs(text(), plain) + 1_000;
  const slow = [...schemas].flatMap(([schema, path]) =>
    texts.some((given) => readingUs(schema, given) > limitUs) ? [path] : [],
  );
  expect(slow).toEqual([]);
});

test("a body with every list at its maximum is not too large to be read (G213)", async () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `name ${index}`);
  const lists = ["regions", "cities", "os", "browsers", "languages"].map((one) => `${one}_allow`);
  const targeting = Object.fromEntries(lists.map((one) => [one, names]));
  const event = { code: "a", name: "b", payout: "1", revenue: "2", is_private: true };
  const offer = {
    allowed_domains: names,
    tags: names.slice(0, 50),
    targeting,
    events: names.slice(0, 50).map(() => event),
    unknown: 1,
  };
  const answer = await send("createOffer", JSON.stringify(offer));
  expect(answer.body).toContain('"unknown":"unknown field"');
});

test("too many fields where callers choose the names are refused as such (G213)", async () => {
  const members = Array.from({ length: 2_000 }, (_, index) => `"f${index}":"x"`).join(",");
  const answer = await send("createAffiliate", `{"name":"a","payment_details":{${members}}}`);
  expect([answer.statusCode, answer.body]).toEqual([
    400,
    '{"error":{"code":"invalid_request","message":"the body has too many fields"}}',
  ]);
});
