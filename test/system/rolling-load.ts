import { readFileSync } from "node:fs";
import { RawConnection, rawRequest } from "./raw-http.ts";
import { pause, pauseUntilDue } from "./service.ts";

const KEPT_CONNECTIONS = 12;
const SHORT_CONNECTIONS = 2;
const AFTER_FAILURE_MS = 20;
const MIGRATE_REQ = "/proc/sys/net/ipv4/tcp_migrate_req";
/**
 * With 0, the default, Linux resets the connections that a closing listener has not accepted. Measured with two listeners, 2,000 new
 * connections a second and a busy machine: 0 to 5 of 400 closes met one, and none with 1, as deploy/systemd/sysctl.d sets it.
 */
const RESETS_ARE_EXPECTED = readFileSync(MIGRATE_REQ, "utf8").trim() === "0";
const RESET = /ECONNRESET|EPIPE|without an answer/;

/** A load whose clients follow HTTP: they do not reuse a connection whose answer says `close`. */
export class RollingLoad {
  /** Click ids of the answered requests, by number. */
  readonly answered = new Map<number, string>();
  readonly failures: string[] = [];
  /** Click id of the newest answer. */
  newest: string | undefined;
  closes = 0;
  /** Connections that the kernel reset before any answer on them; their requests were repeated. 0 where it hands them to a sibling. */
  resets = 0;
  /** UTC ms. */
  firstFailureAtMs: number | undefined;
  readonly #port: number;
  readonly #run: string;
  readonly #perSecond: number;
  readonly #loops: Promise<void>[] = [];
  #next = 0;
  #startedMs = 0;
  #isRunning = true;

  /** Sends at most `perSecond` requests a second. A delay is made up for. */
  constructor(port: number, run: string, perSecond: number) {
    this.#port = port;
    this.#run = run;
    this.#perSecond = perSecond;
  }

  start(): void {
    this.#startedMs = performance.now();
    for (let i = 0; i < KEPT_CONNECTIONS; i += 1) this.#loops.push(this.#loop(true));
    for (let i = 0; i < SHORT_CONNECTIONS; i += 1) this.#loops.push(this.#loop(false));
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#loops);
  }

  async #loop(isKept: boolean): Promise<void> {
    let connection: RawConnection | undefined;
    while (this.#isRunning) {
      const number = this.#next;
      this.#next += 1;
      await pauseUntilDue(number, { startedMs: this.#startedMs, perSecond: this.#perSecond });
      const isNew = connection === undefined;
      try {
        connection ??= await RawConnection.open(this.#port);
        if (!(await this.#request(connection, number)) && isKept) continue;
      } catch (error) {
        if (RESETS_ARE_EXPECTED && isNew && RESET.test(String(error))) {
          this.resets += 1;
        } else this.#failed(number, error);
        // A server that is gone refuses connections faster than a test can use.
        await pause(AFTER_FAILURE_MS);
      }
      connection?.destroy();
      connection = undefined;
    }
    connection?.destroy();
  }

  #failed(number: number, error: unknown): void {
    this.failures.push(`request ${number}: ${String(error)}`);
    this.firstFailureAtMs ??= Date.now();
  }

  /** Sends one request. Returns whether the connection must not be used again. */
  async #request(connection: RawConnection, number: number): Promise<boolean> {
    connection.send(rawRequest(`/r/OFFER1/PARTNR?sub1=${this.#run}&sub2=${number}`));
    const answer = await connection.answer();
    if (answer === undefined) throw new Error("the connection ended without an answer");
    const [cookie = ""] = answer.headers.get("set-cookie") ?? [];
    const id = /^trk_cid=([0-9a-f]{32})/.exec(cookie)?.[1];
    if (answer.status !== 302 || id === undefined) throw new Error(`HTTP ${answer.status}`);
    this.answered.set(number, id);
    this.newest = id;
    const isLast = answer.headers.get("connection")?.[0] === "close";
    if (isLast) this.closes += 1;
    return isLast;
  }
}
