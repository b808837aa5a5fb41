import type { Readable } from "node:stream";
import type { z } from "zod";
import type { ClickhouseEditor } from "../../schemas/clickhouse/connect.ts";
import type { Lanes } from "../../schemas/events/lanes.ts";
import type { Log } from "../../schemas/host/log.ts";
import type { Nats } from "../../schemas/nats/connect.ts";
import type { OutgoingClient } from "../../schemas/outgoing/outgoing-client.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import type { SecretKeys } from "../../schemas/secrets/secret-keys.ts";
import type { Cursors } from "./cursor.ts";
import type { ErrorCode } from "./errors.ts";
import type { Permission, Role } from "./permissions.ts";
import type { Principal, PrincipalWorkspace } from "./principal.ts";
import type { ReadPage } from "./read-page.ts";
import type { RequestTrace } from "./request-trace.ts";

/** The caller's rate budget, with this request already counted. */
export type RateState = {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSec: number;
};

export type OperationSettings = {
  /** Public address of the REST API, without `/api/v1`. */
  readonly apiUrl: string;
  /** Public origin of the tracking domain. */
  readonly trackingUrl: string;
  /** Allows endpoints on this machine, for trials (ALLOW_PRIVATE_DESTINATIONS). */
  readonly allowLoopback: boolean;
  /** CLICK_RETENTION_DAYS: days until the visitor's data are erased from a click; 0 for never. */
  readonly clickRetentionDays: number;
};

/** How an operation tells the process's runners of files. */
export type ImportSignals = {
  /** An import, or an update by file, waits to be carried out. */
  readonly due: () => void;
  /** Somebody has stopped an import. */
  readonly stopped: () => void;
};

/** Counters of click caps in their present period, for a statement. */
export type ClickCounts = { readonly caps: readonly string[]; readonly clicks: readonly number[] };

/** The totals of click caps that the click writers publish. */
export type ClickTotals = {
  /** Undefined while some are not known. */
  readonly counts: (lanes: Lanes, timezone: string, nowMs: number) => ClickCounts | undefined;
};

/** What an operation may use. */
export type OperationContext = {
  readonly principal: Principal;
  /** Same as `principal.workspace`. */
  readonly workspace: PrincipalWorkspace;
  readonly db: Pool;
  readonly clickhouse: ClickhouseEditor;
  /** Shares the pages of reports with other requests. Only requests with a slot have it. */
  readonly readPage?: ReadPage;
  /** Undefined while NATS has not been reached since the start: answer `unavailable`. */
  readonly nats: Nats | undefined;
  /** Totals of click caps. The command line does not follow them. */
  readonly clickTotals?: ClickTotals | undefined;
  /** The command line has none. */
  readonly imports?: ImportSignals | undefined;
  /** For requests to addresses that a caller names. */
  readonly outgoing: OutgoingClient;
  readonly cursors: Cursors;
  /** Seals what must be read again, such as payment details (N9). */
  readonly secretKeys: SecretKeys;
  readonly log: Log;
  readonly requestId: string;
  /** Undefined without tracing. */
  readonly trace?: RequestTrace | undefined;
  /** UTC milliseconds when the request came in. */
  readonly nowMs: number;
  /** Address of the caller behind trusted proxies. */
  readonly clientIp: string;
  /** Whether a person has proved a factor within the last ten minutes. Always true of keys. */
  readonly isFresh: boolean;
  readonly rate: RateState;
  readonly settings: OperationSettings;
  /** Whether mails may be queued: SMTP_URL is set. Commands and imports send none. */
  readonly sendsMail?: boolean;
  /**
   * Of an operation with `keepsAnswer` and a `fileBody`, with the header `Idempotency-Key`: makes the effect and the answer of the file, once it has
   * arrived, in one transaction.
   */
  readonly answerOnce?: AnswerOnce | undefined;
};

type AnswerOnce = (
  end: (context: Pick<OperationContext, "db" | "imports">) => Promise<OperationResult>,
) => Promise<OperationResult>;

/**
 * What the server has when it runs an operation. Only operations for people (`callers`) run without a principal, and only they read
 * `people`.
 */
export type RequestContext = Omit<OperationContext, "principal" | "workspace"> & {
  readonly principal: Principal | undefined;
  readonly workspace: PrincipalWorkspace | undefined;
  /** A PeopleRequest (people/people-request.ts). */
  readonly people?: unknown;
};

export type OperationAccess = {
  readonly roles: readonly Role[];
  /** Permission that the key needs (G09); undefined where the role alone decides. */
  readonly permission?: Permission;
  /** A permission that suffices instead of `permission`. */
  readonly orPermission?: Permission;
  /** Permission that staff keys need instead. */
  readonly staffPermission?: Permission;
  /**
   * Refuses staff keys that are restricted to some permissions. Needed where no permission covers the operation, and where the
   * operation could widen a key, such as creating keys. With a permission as value, keys restricted to a list with that permission
   * are still allowed.
   */
  readonly needsUnrestrictedKey?: true | Permission;
  /**
   * Refuses keys, because the operation is about people and their sessions. `anyone`: also somebody who has not signed in. `started`: also
   * while the second factor is missing. `people`: signed in; roles and permissions do not matter. `members`: signed in with a
   * membership, whose role and permissions decide.
   */
  readonly callers?: "anyone" | "started" | "people" | "members";
  /** For a write that anyone may use: programs and pages of other sites, too, because it signs nobody in. */
  readonly fromAnywhere?: true;
  /**
   * Refuses a session whose last proof of a factor is older than ten minutes (people/fresh.ts). A list: only if the body has one of these
   * fields. Keys are not asked.
   */
  readonly needsFresh?: true | readonly string[];
  /** For a write: people who are analysts may use it too, because it changes only what they have made for themselves. Keys only read. */
  readonly changesOwnOnly?: true;
  /** A write is refused to analyst keys as `read_only_key` and to other roles as `forbidden`. Writes go to the audit log. */
  readonly isWrite: boolean;
};

export type SlotKind = "clicks" | "reports";

/** JSON unless it is a stream; `status` only where it differs from the operation's. */
export type OperationResult =
  | {
      readonly body: unknown;
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | {
      readonly stream: Readable;
      readonly contentType: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

/** Field of the body → what is wrong with it. */
export type FieldFaults = Readonly<Record<string, string>>;

export type CsvBody = {
  /** Converts the text to the body that JSON would have. @throws {ApiError} `invalid_request` or `validation_failed`. */
  readonly read: (text: string) => Readonly<Record<string, unknown>>;
  readonly example: string;
};

/** A body that is a file of any media type. The operation reads it while it arrives. */
export type FileBody = {
  readonly bytesMax: number;
  readonly description: string;
  readonly example: string;
};

/** The file of a request. */
export type ReceivedFile = {
  /**
   * The pieces as they arrive. Can be read once.
   * @throws {ApiError} `payload_too_large`.
   * @throws {ClientLeftError} when the file does not arrive whole.
   */
  readonly pieces: () => AsyncIterable<Uint8Array>;
};

export type OperationInput = {
  readonly path: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly resource: unknown;
  /** Undefined unless the operation has a `fileBody`. */
  readonly file?: ReceivedFile | undefined;
};

/** One thing that the API can do. REST routes, MCP tools and the OpenAPI document are made from these. */
export type Operation = {
  /** operationId: verb and noun in camelCase, unique. */
  readonly name: string;
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Below `/api/v1`, parameters as `{id}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: OperationAccess;
  /** Values of path and query are strings; the schemas turn them into what `run` expects. */
  readonly input: {
    readonly path?: z.ZodType | undefined;
    readonly query?: z.ZodType;
    readonly body?: z.ZodType;
  };
  /** Values of body fields that are left out, where they are the same for every caller. The OpenAPI document shows them. */
  readonly bodyDefaults?: Readonly<Record<string, unknown>>;
  /**
   * For a body that is accepted with some faulty entries: the schema that refuses them. It refuses a long body whose beginning has as many
   * faulty entries as are named, before the rest is read (http/json-body.ts).
   */
  readonly strictBody?: z.ZodType;
  /** Text fields of the body, at any level, that also take JSON numbers, with all their digits (G218). */
  readonly digitFields?: readonly string[];
  /** Accepts text/csv bodies as well as JSON. */
  readonly csvBody?: CsvBody;
  /** Takes a file instead of a body with fields. */
  readonly fileBody?: FileBody;
  readonly output: z.ZodType;
  /** Status of success: 200, 201, or 202 for work that is done later. */
  readonly status: number;
  /** Another status of success, with the same schema: 200 for a POST that found the record instead of creating it. */
  readonly otherStatus?: 200;
  /**
   * Codes that it may answer with, beyond what follows from access, path, query and body (docs/openapi/openapi-failures.ts). Tests fail on any
   * code that the document does not list.
   */
  readonly failures?: readonly ErrorCode[];
  /**
   * Which slots it takes, by what it reads of ClickHouse or streams: each key has only a few (http/slots/report-slots.ts). A function decides by
   * the query.
   */
  readonly readsClickhouse?: SlotKind | ((query: unknown) => SlotKind | undefined);
  /** Headers that a JSON answer may have beyond what every answer has, and what they say. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
  /** Media types that an answer may have in addition to JSON. */
  readonly otherMediaTypes?: readonly string[];
  /**
   * Takes the header `Idempotency-Key` and keeps the answer in the transaction of the effect (N5, http/kept-answers.ts). With the header, all that
   * the operation does runs in one transaction, its own `inTransaction` as a savepoint in it. So it answers JSON without headers of its own, does not
   * read ClickHouse, has no effect outside of Postgres, and goes on after a failed statement only behind a savepoint. `sealed`: the answer has a
   * secret. With a `fileBody`, only what runs in `context.answerOnce` is in that transaction.
   */
  readonly keepsAnswer?: true | "sealed";
  /** Loads the record that the path names, before query and body are read (G02). Throws `notFound`. */
  readonly findResource?:
    | ((context: RequestContext, path: unknown) => Promise<unknown>)
    | undefined;
  /** Finds faults that need the stored records. Also runs when the schema found faults, so that all are reported together (G15). */
  readonly findFaults?: (context: RequestContext, raw: RawBody) => Promise<FieldFaults>;
  readonly run: (context: RequestContext, input: OperationInput) => Promise<OperationResult>;
};

/** The body before its schema is applied: an object with unchecked fields. */
export type RawBody = {
  readonly body: Readonly<Record<string, unknown>>;
  readonly resource: unknown;
};

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** An operation as it is declared, with the context that it runs in. */
export type Definition<Path, Query, Body, Resource, Context = OperationContext> = Omit<
  Operation,
  "input" | "run" | "findResource" | "findFaults" | "readsClickhouse"
> & {
  readonly readsClickhouse?: SlotKind | ((query: Parsed<Query>) => SlotKind | undefined);
  readonly input: {
    readonly path?: (Path & z.ZodType) | undefined;
    readonly query?: Query & z.ZodType;
    readonly body?: Body & z.ZodType;
  };
  readonly findResource?: ((context: Context, path: Parsed<Path>) => Promise<Resource>) | undefined;
  readonly findFaults?: (
    context: Context,
    raw: { readonly body: Readonly<Record<string, unknown>>; readonly resource: Resource },
  ) => Promise<FieldFaults>;
  readonly run: (
    context: Context,
    input: {
      readonly path: Parsed<Path>;
      readonly query: Parsed<Query>;
      readonly body: Parsed<Body>;
      readonly resource: Resource;
      readonly file?: ReceivedFile | undefined;
    },
  ) => Promise<OperationResult>;
};

/**
 * Declares an operation. `run` gets the outputs of the schemas, and the result of `findResource` as `resource`.
 *
 * - Path faults answer 404, query faults 400 `invalid_parameter`, body faults 400 `validation_failed`.
 * - Query schemas are `z.object`, body schemas `z.strictObject`. Unknown names are refused in both (G14). For a query,
 *   http/unknown-parameters.ts does this and suggests the nearest known parameter.
 */
export function operation<
  Path = undefined,
  Query = undefined,
  Body = undefined,
  Resource = undefined,
>(definition: Definition<Path, Query, Body, Resource>): Operation {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller of `run` has applied exactly these schemas; a list of operations cannot carry their types
  return definition as unknown as Operation;
}
