import { setImmediate } from "node:timers/promises";
import { asObject, asText, type Json } from "../../operation/json-object.ts";
import type { FileBody, Operation } from "../../operation/operation.ts";
import { CALL_EXAMPLES, examplePart } from "../notes/call-examples.ts";
import {
  ANSWER_HEADERS,
  FAILURES_OF_ALL,
  FailureResponses,
  failuresOf,
} from "./openapi-failures.ts";
import { Schemas } from "./openapi-schemas.ts";
import { exampleOf } from "./schema-example.ts";

export type OpenApiOptions = {
  readonly operations: readonly Operation[];
  /** Public address with `/api/v1`. */
  readonly baseUrl: string;
};

const BEARER = "bearerAuth";
const CSV = "text/csv";
const ANY_FILE = "application/octet-stream";
const SESSION = "session";

/** What each tag is about, in the order of the document. The linter in the tests warns about a tag that is missing here. */
const TAGS: Readonly<Record<string, string>> = {
  Account: "The key in use, and this description of the API.",
  Offers: "What partners promote: terms, events, caps, targeting, and which partner may run it.",
  Creatives: "Banners, links and texts of an offer.",
  Affiliates: "Partners, who send visitors.",
  Advertisers: "Owners of offers, who report conversions.",
  Reports: "Sums over clicks, impressions and conversions.",
  Clicks: "Single clicks, with their conversions.",
  Conversions: "Single conversions: read, record by hand, approve or reject.",
  Postbacks: "Messages to partners about their conversions, with the results.",
  Payouts: "How partners are paid, and payout runs.",
  Deals: "Deals and product feeds of advertisers.",
  Links: "Tracking links, and checks of ad-platform templates.",
  Billing:
    "What is owed to partners and by advertisers, and what was paid: ledger, adjustments, statements, invoices and payments.",
  Webhooks: "Events of the workspace, sent to your server.",
  System:
    "The installation as a whole: its state and its workspaces. For people who run it, whom the console knows as operators.",
  People:
    "Sign-in, sessions, factors, invitations and members. For people who have signed in, not for keys.",
  Management:
    "Set-up of a workspace: keys, users, domains, smart links, rules, rates, logs. Admin keys write, analyst keys read.",
};

/** The OpenAPI 3.1 document of the API (G194), generated from the schemas that validate its requests. */
export function buildOpenApi(options: OpenApiOptions): Json {
  const steps = documentSteps(options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same document. Other requests are answered between its operations, because all of them take half a second. */
export async function buildOpenApiInTurns(options: OpenApiOptions): Promise<Json> {
  const steps = documentSteps(options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

/** One step for each operation. */
function* documentSteps({ operations, baseUrl }: OpenApiOptions): Generator<void, Json> {
  const schemas = new Schemas();
  const failures = new FailureResponses(schemas);
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = describe(operation, schemas, failures);
    yield;
  }
  const used = new Set(["Account", ...operations.map(({ tag }) => tag)]);
  for (const [path, document] of Object.entries(documentPaths(failures))) paths[path] = document;
  return {
    openapi: "3.1.0",
    info: {
      title: "Affiliate tracking API",
      version: "1",
      description:
        "Offers, partners, advertisers, clicks, conversions and reports of an affiliate network. Money is a decimal string " +
        "with four places, times are UTC, a record is under `data`, a list has `next_cursor`.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: baseUrl, description: "This installation" }],
    security: [{ [BEARER]: [] }],
    tags: [
      ...Object.entries(TAGS).flatMap(([name, description]) =>
        used.has(name) ? [{ name, description }] : [],
      ),
      ...[...used].filter((name) => TAGS[name] === undefined).map((name) => ({ name })),
    ],
    paths,
    components: {
      securitySchemes: {
        [BEARER]: {
          type: "http",
          scheme: "bearer",
          description:
            "An API key: `Authorization: Bearer <API_KEY>`. It belongs to one workspace.",
        },
        [SESSION]: {
          type: "apiKey",
          in: "cookie",
          name: "__Host-trk_console",
          description:
            "A person's session, which `POST /sign-in` starts; on http its name is `trk_console`. It counts only in requests of the API's own " +
            "pages, with the header `X-Tracker-Membership`: the id of a membership of `GET /session`, or 0. Answers carry " +
            "`X-Tracker-Membership-Version`.",
        },
      },
      responses: failures.all,
      schemas: schemas.all,
    },
  };
}

/** The documents that need no key (G04). */
function documentPaths(failures: FailureResponses): Record<string, Json> {
  const describeDocument = (name: string, summary: string, content: Json): Json => ({
    get: {
      operationId: name,
      tags: ["Account"],
      summary,
      description: "Needs no key.",
      security: [],
      responses: {
        "200": { description: "The document", headers: ANSWER_HEADERS, content },
        ...failures.of(FAILURES_OF_ALL),
      },
    },
  });
  return {
    "/openapi.json": describeDocument("getOpenApi", "Get this description as OpenAPI", {
      "application/json": {
        schema: { type: "object", required: ["openapi", "info", "paths"] },
        example: { openapi: "3.1.0", info: { title: "Affiliate tracking API" }, paths: {} },
      },
    }),
    "/docs": describeDocument("getReferencePage", "Get the API reference", {
      "text/html": { schema: { type: "string" }, example: "<!doctype html>" },
    }),
  };
}

function describe(operation: Operation, schemas: Schemas, failures: FailureResponses): Json {
  const { input, description, csvBody, bodyDefaults = {}, name } = operation;
  const answer = schemas.reference(operation.output, "output", [name]);
  const { [name]: example = {} } = CALL_EXAMPLES;
  const owners = [name, ...schemas.recordsIn(answer)];
  const body =
    input.body === undefined
      ? undefined
      : withDefaults(schemas.reference(input.body, "input", owners), bodyDefaults);
  return {
    operationId: name,
    tags: [operation.tag],
    summary: operation.summary,
    description: [...(description === undefined ? [] : [description]), accessText(operation)].join(
      "\n\n",
    ),
    ...securityOf(operation),
    parameters: [
      ...schemas.parameters(input.path, { operation: name, location: "path" }),
      ...schemas.parameters(input.query, { operation: name, location: "query" }),
      ...(operation.keepsAnswer !== undefined ? [IDEMPOTENCY_KEY] : []),
    ].map((parameter) => withExample(parameter, example.query ?? {})),
    ...(operation.fileBody === undefined ? {} : { requestBody: fileOf(operation.fileBody) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              "application/json": {
                schema: body,
                example: example.body ?? exampleOf(schemas, body, "input"),
              },
              ...(csvBody === undefined
                ? {}
                : { [CSV]: { schema: textOf(CSV), example: csvBody.example } }),
            },
          },
        }),
    responses: {
      ...Object.fromEntries(
        [operation.otherStatus ?? operation.status, operation.status].map((status) => [
          String(status),
          successResponse({ ...operation, status }, schemas, answer),
        ]),
      ),
      ...failures.of(failuresOf(operation)),
    },
  };
}

/** The header of operations that keep their answers (N5). */
const IDEMPOTENCY_KEY: Json = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "A name that you choose for this request. Sent again with the same body within 30 days, the request has no second effect: the first answer comes " +
    "again, with the header `Idempotency-Replayed: true`. With another body or path it is 409 `conflict`, and 409 with `Retry-After: 1` while the " +
    "first request is under way. A refused request is not kept. A name belongs to the staff of the workspace, or to the account of the key; where the answer has a " +
    "new key, to whoever sent it",
  schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,64}$" },
  example: "order-4711",
};
const REPLAYED_HEADER: Readonly<Record<string, string>> = {
  "Idempotency-Replayed": "`true` if this is the answer to an earlier request with the same key",
};

/** Any media type is accepted. */
function fileOf({ description, example }: FileBody): Json {
  return {
    description,
    required: true,
    content: { [ANY_FILE]: { schema: textOf(ANY_FILE), example } },
  };
}

/** The schema of a body that is text, such as CSV. */
function textOf(mediaType: string): Json {
  return { type: "string", contentMediaType: mediaType };
}

/** Path parameters always have an example, query parameters if the example of the call uses them. */
function withExample(parameter: Json, query: Readonly<Record<string, string>>): Json {
  const { name, in: place, schema } = parameter;
  const text = place === "path" ? examplePart(asText(name), asObject(schema)) : query[asText(name)];
  if (text === undefined) return parameter;
  return { ...parameter, example: asObject(schema)["type"] === "integer" ? Number(text) : text };
}

/** Defaults that are not shown, because they are the same as leaving the field out. As JSON. */
const NOTHING: ReadonlySet<string | undefined> = new Set([undefined, "null", '""', "[]", "{}"]);

/** Puts defaults into the description. With `default` in the schema, client generators would treat the field as always present. */
function withDefaults(body: Json, defaults: Readonly<Record<string, unknown>>): Json {
  const properties = Object.entries(asObject(body["properties"])).map(([name, value]) => {
    const field = asObject(value);
    const { [name]: fallback } = defaults;
    const text = JSON.stringify(fallback);
    const isShown = !NOTHING.has(text);
    const description = `${asText(field["description"])}; \`${text}\` by default`;
    return [name, isShown ? { ...field, description } : field];
  });
  return properties.length === 0 ? body : { ...body, properties: Object.fromEntries(properties) };
}

/** Empty for operations that keys may use. */
function securityOf({ access }: Operation): Json {
  if (access.callers === undefined) return {};
  return { security: access.callers === "anyone" ? [] : [{ [SESSION]: [] }] };
}

const CALLERS: Readonly<Record<NonNullable<Operation["access"]["callers"]>, string>> = {
  anyone: "Needs neither key nor session.",
  started: "For a session, also while its second factor is missing. Not for keys.",
  people: "For people who have signed in. Not for keys.",
  members: "For people who have signed in, not for keys.",
};

function accessText({ access }: Operation): string {
  const { callers } = access;
  const who = callers === undefined ? "" : CALLERS[callers];
  const fresh =
    access.needsFresh === true ? " Needs a proof of a factor of the last 10 minutes." : "";
  if (callers !== undefined && callers !== "members") return `${who}${fresh}`;
  const either = [access.permission, access.orPermission].filter((name) => name !== undefined);
  const permission = either.length === 0 ? "" : ` Permission: ${either.join(" or ")}.`;
  const ofStaff =
    access.staffPermission === undefined ? "" : ` For staff keys: ${access.staffPermission}.`;
  const whole =
    access.needsUnrestrictedKey === true ? " Not for keys with a list of permissions." : "";
  const roles = `Roles: ${access.roles.join(", ")}.${permission}${ofStaff}${whole}`;
  return callers === undefined ? roles : `${who}${fresh} ${roles}`;
}

const DESCRIPTIONS: Readonly<Record<number, string>> = { 201: "Created", 202: "Accepted" };

function successResponse(
  { name, status, otherMediaTypes = [], answerHeaders = {}, keepsAnswer }: Operation,
  schemas: Schemas,
  schema: Json,
): Json {
  return {
    description: DESCRIPTIONS[status] ?? "Success",
    headers: {
      ...ANSWER_HEADERS,
      ...Object.fromEntries(
        Object.entries({ ...answerHeaders, ...(keepsAnswer && REPLAYED_HEADER) }).map(
          ([header, description]) => [header, { description, schema: { type: "string" } }],
        ),
      ),
    },
    content: {
      "application/json": {
        schema,
        example: CALL_EXAMPLES[name]?.answer ?? exampleOf(schemas, schema, "output"),
      },
      ...Object.fromEntries(otherMediaTypes.map((type) => [type, { schema: textOf(type) }])),
    },
  };
}
