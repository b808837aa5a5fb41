import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import type { Workspace } from "../../../schemas/catalog/records.ts";
import type { TokenOwner } from "../../../schemas/catalog/token-table.ts";
import { workspaceOfCall } from "../../../schemas/catalog/workspace-of-call.ts";
import { PERSONAL_PARAMS } from "../../../schemas/erasure/personal-fields.ts";
import type { InboundCall } from "../../../schemas/events/inbound-call.ts";
import type { PostbackRequest } from "../../../schemas/events/postback-request.ts";
import { RefusalRows } from "../../../schemas/events/refusal-rows.ts";
import { SECRET_PARAMS, USER_IP_PARAMS } from "../../../schemas/events/report-aliases.ts";
import { Batcher } from "../../../schemas/host/batcher.ts";
import type { Log } from "../../../schemas/host/log.ts";
import { storedIp } from "../../../schemas/net/stored-ip.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { isStoreAway } from "../record/store-away.ts";
import { storableText } from "../report/json-parameter.ts";
import type { Handled } from "../report/postback-answer.ts";
import { type CallSubject, callSubject } from "./call-subject.ts";

const FLUSH_INTERVAL_MS = 100;
/** Wait between attempts while Postgres is unavailable. */
const RETRY_MS = 1_000;
/** How often to check whether the minute of a merged row of refusals is over. */
const DUE_MS = 1_000;
const ROWS_PER_FLUSH = 500;
const ROWS_MAX = 10_000;
const PARAMS_MAX = 64;
const TEXT_LENGTH_MAX = 255;
const MASK = "***";
const UNKNOWN_SUBJECT: CallSubject = { advertiser_id: null, offer_id: null, event_id: null };
/** E-mail addresses are masked in every parameter. */
const EMAIL = /[^\s@]@[^\s@]+\.[^\s@]/;

type LogRow = {
  readonly workspace_id: number | null;
  readonly ts: string;
  readonly endpoint: string;
  readonly ip: string | null;
  readonly token_owner: string;
  readonly params: Readonly<Record<string, string>>;
  readonly http_status: number;
  readonly result: string;
  readonly click_id: string | null;
  readonly conversion_id: string | null;
  readonly message: string;
  readonly request_id: string | null;
} & CallSubject;

/** What the processor that answered the call knows about it. */
type Known = Pick<Handled, "conversionId" | "offerId" | "eventCode"> & {
  /** Many calls share the row, and not all of them are about the same offer. */
  readonly isShared?: boolean;
};

/**
 * The inbound log: one row for each report, with its outcome (G178). Rows are written after the answer, many in one statement, so the
 * log never delays or fails a conversion. While Postgres is unavailable, rows that do not fit in memory are counted in `lost`. Calls
 * that ingress answered without this process are logged too. Refusals of strangers (callers without a valid token) share rows
 * ({@link RefusalRows}); a report with a valid token always has its own row.
 */
export class PostbackLog {
  readonly #db: Queryable;
  readonly #log: Log;
  readonly #catalog: Catalog;
  readonly #strangers = new RefusalRows(() => performance.now());
  readonly #dueTimer: NodeJS.Timeout;
  readonly #rows = new Batcher<LogRow>({
    flush: (rows) => this.#write(rows),
    itemsMax: ROWS_PER_FLUSH,
    waitingMax: ROWS_MAX,
    gatherMs: FLUSH_INTERVAL_MS,
    repeatInMs: (error) => (isStoreAway(error) ? RETRY_MS : undefined),
  });
  /** Rows that were dropped because the queue was full, or that Postgres refused. */
  lost = 0;
  /** Refusals that were counted in an existing row. */
  merged = 0;

  constructor(deps: {
    readonly pool: Queryable;
    readonly log: Log;
    readonly catalog: Catalog;
  }) {
    this.#db = deps.pool;
    this.#log = deps.log;
    this.#catalog = deps.catalog;
    this.#dueTimer = setInterval(() => this.#pushDue(false), DUE_MS);
  }

  add(rawReport: PostbackRequest, handled: Handled): void {
    const { workspaceId, clickId, message, reply } = handled;
    const token = rawReport.params["token"] ?? "";
    const { endpoint, params, ip, receivedAtMs, requestId } = rawReport;
    const call: InboundCall = {
      endpoint,
      params,
      ip,
      receivedAtMs,
      requestId,
      workspaceId:
        workspaceId ??
        workspaceOfCall(this.#catalog, { token, host: rawReport.host, atMs: receivedAtMs })?.id ??
        null,
      clickId: clickId ?? null,
      httpStatus: reply.httpStatus,
      result: reply.result,
      message,
    };
    // While the catalog is not loaded, every token is unknown.
    const isStranger =
      this.#catalog.isLoaded &&
      this.#catalog.ownerOfToken(token.trim(), receivedAtMs) === undefined;
    const isShared = isStranger && !reply.body.ok && !this.#strangers.admit(call);
    if (isShared) this.merged += 1;
    else this.#push(call, handled);
  }

  /** Logs calls that ingress answered. They are in Postgres when this resolves. Throws what Postgres throws. */
  async keep(calls: readonly InboundCall[]): Promise<void> {
    await this.#insert(calls.map((call) => rowOf(this.#catalog, call, unknown(call))));
  }

  /** Makes one attempt to write the remaining rows. Rows that it cannot write are lost. */
  async close(): Promise<void> {
    clearInterval(this.#dueTimer);
    this.#pushDue(true);
    await this.#rows.close();
  }

  #pushDue(isEnd: boolean): void {
    for (const call of this.#strangers.takeDue(isEnd)) this.#push(call, unknown(call));
  }

  #push(call: InboundCall, known: Known): void {
    if (!this.#rows.add(rowOf(this.#catalog, call, known))) this.lost += 1;
  }

  async #write(rows: readonly LogRow[]): Promise<[]> {
    try {
      await this.#insert(rows);
    } catch (error) {
      this.#log.warn({ err: error, waiting: this.#rows.count }, "postback-log.not-written");
      // Postgres would refuse these rows again, and all later rows would wait behind them.
      if (!isStoreAway(error)) this.lost += rows.length;
      throw error;
    }
    return [];
  }

  async #insert(rows: readonly LogRow[]): Promise<void> {
    await this.#db.query({
      name: "insert-postback-log",
      text: `insert into postback_log (workspace_id, ts, endpoint, ip, token_owner, params, http_status, result, click_id,
               conversion_id, message, request_id, advertiser_id, offer_id, event_id)
             select workspace_id, ts, endpoint, ip, token_owner, params, http_status, result, click_id, conversion_id, message,
               request_id, advertiser_id, offer_id, event_id
             from jsonb_array_elements($1::jsonb) as i("row"),
               jsonb_to_record(log_row_without_erased(i."row", $2::text[])) as r(workspace_id integer, ts timestamptz,
                 endpoint text, ip inet, token_owner text, params jsonb, http_status integer, result text, click_id text,
                 conversion_id uuid, message text, request_id text, advertiser_id integer, offer_id integer,
                 event_id integer)`,
      values: [JSON.stringify(rows), PERSONAL_PARAMS],
    });
  }
}

/** A call that another process answered, or calls that share a row and have no ID of their own. */
function unknown({ requestId = null }: InboundCall): Known {
  return { conversionId: undefined, isShared: requestId === null };
}

function rowOf(catalog: Catalog, call: InboundCall, known: Known): LogRow {
  const { endpoint, ip, message } = call;
  const workspace = catalog.workspaces.get(call.workspaceId ?? 0);
  // A caller of `/pb` is a server. All other callers are visitors, and the workspace's setting limits how much of their address is
  // kept.
  const storage = workspace?.ip_storage ?? "truncated";
  const owner = catalog.ownerOfToken((call.params["token"] ?? "").trim(), call.receivedAtMs);
  const shownIp = storedIp(ip, endpoint === "pb" ? "full" : storage);
  return {
    workspace_id: call.workspaceId,
    ts: new Date(call.receivedAtMs).toISOString(),
    endpoint,
    ip: shownIp === "" ? null : shownIp,
    token_owner: ownerName(owner),
    params: maskedParams(call.params, storage),
    http_status: call.httpStatus,
    result: call.result,
    click_id: call.clickId,
    conversion_id: known.conversionId ?? null,
    message: clean(message),
    request_id: call.requestId ?? null,
    ...subjectOf(catalog, { call, known, owner }),
  };
}

function subjectOf(
  catalog: Catalog,
  {
    call,
    known: { offerId, eventCode, isShared = false },
    owner,
  }: {
    readonly call: InboundCall;
    readonly known: Known;
    readonly owner: ReturnType<Catalog["ownerOfToken"]>;
  },
): typeof UNKNOWN_SUBJECT {
  if (isShared) return UNKNOWN_SUBJECT;
  const advertiserId = owner?.kind === "advertiser" ? owner.advertiser.id : undefined;
  return callSubject(catalog, { ...call, advertiserId, offerId, eventCode });
}

/** The owner of the token; never the token itself. */
function ownerName(owner: TokenOwner | undefined): string {
  if (owner === undefined) return "";
  return owner.kind === "workspace" ? "workspace" : `advertiser ${owner.advertiser.id}`;
}

/** Parameters as received, shortened, and without secrets and personal data (P31). */
function maskedParams(
  params: InboundCall["params"],
  storage: Workspace["ip_storage"],
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params)
      .slice(0, PARAMS_MAX)
      .map(([name, value]) => [clean(name), shownValue(name.toLowerCase(), value, storage)]),
  );
}

function shownValue(name: string, value: string, storage: Workspace["ip_storage"]): string {
  if (value === "") return "";
  if (SECRET_PARAMS.includes(name) || EMAIL.test(value)) return MASK;
  return USER_IP_PARAMS.includes(name) ? storedIp(value.trim(), storage) : clean(value);
}

function clean(text: string): string {
  return storableText(text.slice(0, TEXT_LENGTH_MAX));
}
