import { isIP } from "node:net";
import type { LandingCall } from "../../schemas/events/landing-call.ts";
import type { PostbackRequest } from "../../schemas/events/postback-request.ts";
import type { Log } from "../../schemas/host/log.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { storableText } from "./json-parameter.ts";
import type { Handled } from "./postback-answer.ts";
import { SECRET_PARAMS } from "./report-params.ts";

const FLUSH_INTERVAL_MS = 100;
const ROWS_A_FLUSH = 500;
const ROWS_MAX = 10_000;
const PARAMS_MAX = 64;
const TEXT_LENGTH_MAX = 255;
const MASK = "***";

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
};

/**
 * The inbound log: a row for every report, with its outcome (G178). Written beside the answers, many rows a statement, so that
 * it never delays or fails a conversion. What does not fit while Postgres is away is counted in `lost`.
 */
export class PostbackLog {
  readonly #db: Queryable;
  readonly #log: Log;
  #rows: LogRow[] = [];
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  /** Rows that found no place. */
  lost = 0;

  constructor(db: Queryable, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  add(request: PostbackRequest, handled: Handled, tokenOwner: string): void {
    this.#take(() => rowOf(request, handled, tokenOwner));
  }

  /** A call of `/lp` stands in the same log (G178). */
  addLanding(call: LandingCall): void {
    this.#take(() => rowOfLanding(call));
  }

  #take(row: () => LogRow): void {
    if (this.#rows.length >= ROWS_MAX) {
      this.lost += 1;
      return;
    }
    this.#rows.push(row());
    this.#timer ??= setTimeout(() => this.#startFlush(), FLUSH_INTERVAL_MS);
  }

  /** Writes what is left, once; what cannot be written then is lost. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#flushing;
    while (this.#rows.length > 0 && (await this.#flush()));
  }

  #startFlush(): void {
    this.#timer = undefined;
    this.#flushing = this.#flush().then((written) => {
      this.#flushing = undefined;
      // A failure waits for the next report instead of asking a server that is away again and again.
      if (written && this.#rows.length > 0)
        this.#timer ??= setTimeout(() => this.#startFlush(), FLUSH_INTERVAL_MS);
    });
  }

  /** False when the rows could not be written; they are kept. */
  async #flush(): Promise<boolean> {
    const rows = this.#rows.slice(0, ROWS_A_FLUSH);
    try {
      await this.#db.query({
        name: "insert-postback-log",
        text: `insert into postback_log (workspace_id, ts, endpoint, ip, token_owner, params, http_status, result, click_id,
                 conversion_id, message)
               select workspace_id, ts, endpoint, ip, token_owner, params, http_status, result, click_id, conversion_id, message
               from jsonb_to_recordset($1::jsonb) as r(workspace_id integer, ts timestamptz, endpoint text, ip inet,
                 token_owner text, params jsonb, http_status integer, result text, click_id text, conversion_id uuid,
                 message text)`,
        values: [JSON.stringify(rows)],
      });
    } catch (error) {
      this.#log.warn({ err: error, waiting: this.#rows.length }, "postback-log.not-written");
      return false;
    }
    this.#rows = this.#rows.slice(rows.length);
    return true;
  }
}

function rowOf(request: PostbackRequest, handled: Handled, tokenOwner: string): LogRow {
  return {
    workspace_id: handled.workspaceId ?? null,
    ts: new Date(request.receivedAtMs).toISOString(),
    endpoint: request.endpoint,
    ip: isIP(request.ip) === 0 ? null : request.ip,
    token_owner: tokenOwner,
    params: maskedParams(request.params),
    http_status: handled.reply.httpStatus,
    result: handled.reply.result,
    click_id: handled.clickId ?? null,
    conversion_id: handled.conversionId ?? null,
    message: handled.message.slice(0, TEXT_LENGTH_MAX),
  };
}

function rowOfLanding(call: LandingCall): LogRow {
  return {
    workspace_id: call.workspaceId,
    ts: new Date(call.receivedAtMs).toISOString(),
    endpoint: "lp",
    ip: isIP(call.ip) === 0 ? null : call.ip,
    token_owner: "",
    params: maskedParams(call.params),
    http_status: call.httpStatus,
    result: call.result,
    click_id: call.clickId,
    conversion_id: null,
    message: call.message.slice(0, TEXT_LENGTH_MAX),
  };
}

/** Parameters as they came, bounded, and without what opens a door or names a person (P31). */
function maskedParams(params: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params)
      .slice(0, PARAMS_MAX)
      .map(([name, value]) => [
        clean(name),
        SECRET_PARAMS.includes(name) && value !== "" ? MASK : clean(value),
      ]),
  );
}

function clean(text: string): string {
  return storableText(text.slice(0, TEXT_LENGTH_MAX));
}
