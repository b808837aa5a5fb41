import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../time/clock.ts";
import type { Log } from "./log.ts";

export type LifetimeOptions = {
  /** The process ends when its standard input ends: its parent holds the other end. */
  readonly endWithParent: boolean;
  /** After SIGTERM a process that serves visitors serves on for this long, so that balancers leave it first. Default: 0. */
  readonly serveOnMs?: number;
  /** Closing takes at most this long. Default: 15 s. */
  readonly closeMs?: number;
};

const CLOSE_DEADLINE_MS = 15_000;
const LINGER_MS = 1_000;
/** A terminal and npm both pass Ctrl-C on: a signal that comes sooner is the same one. */
const SAME_SIGNAL_MS = 500;

/**
 * Ends a process in order. SIGTERM drains it: it becomes unready, its answers close their connections, it serves on for a while, and
 * then closes what it has opened, in reverse order. SIGINT and SIGHUP do the same without serving on, a second signal ends it at once.
 * `main.ts` shows the order of start; each `own` registers how to undo a step. If closing takes too long, ends the process with code 1
 * and names what did not close.
 */
export class Lifetime {
  readonly #log: Log;
  readonly #serveOnMs: number;
  readonly #closeMs: number;
  readonly #abort = new AbortController();
  readonly #owned: { name: string; close: () => Promise<void> | void }[] = [];
  readonly #onDrain: (() => void)[] = [];
  #ending: Promise<void> | undefined;
  #endingSinceMs: number | undefined;

  constructor(log: Log, options: LifetimeOptions) {
    this.#log = log;
    this.#serveOnMs = options.serveOnMs ?? 0;
    this.#closeMs = options.closeMs ?? CLOSE_DEADLINE_MS;
    process.on("SIGTERM", () => this.#signalled("SIGTERM", this.#serveOnMs));
    // A person waits at the terminal, or siblings serve the port.
    for (const signal of ["SIGINT", "SIGHUP"] as const)
      process.on(signal, () => this.#signalled(signal, 0));
    // Rotation of logs may signal every process of a host. Without a listener the signal would end processes that have nothing to reopen.
    process.on("SIGUSR2", () => undefined);
    if (options.endWithParent) {
      process.stdin
        .on("close", () => void this.end("parent is gone"))
        .on("error", () => undefined)
        .resume();
    }
    process.on("unhandledRejection", (error) => {
      this.#log.error({ err: error }, "process.unhandled-rejection");
      process.exitCode = 1;
      void this.end("unhandled rejection");
    });
  }

  /** True from the first moment of the end on. `/readyz` is 503 then. */
  get isDraining(): boolean {
    return this.#endingSinceMs !== undefined;
  }

  /** Aborted when the process stops to serve. Pass it to everything that waits. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  own(name: string, close: () => Promise<void> | void): void {
    this.#owned.push({ name, close });
  }

  /** For a process that serves visitors: `begin` makes each answer close its connection. Called once, when the process drains. */
  onDrain(begin: () => void): void {
    this.#onDrain.push(begin);
  }

  /** Closes everything once, without serving on; later calls wait for the first. */
  end(reason: string): Promise<void> {
    this.#ending ??= this.#end(reason, 0);
    return this.#ending;
  }

  #signalled(signal: NodeJS.Signals, serveOnMs: number): void {
    if (this.#endingSinceMs === undefined) {
      this.#ending ??= this.#end(signal, serveOnMs);
      return;
    }
    if (systemClock.nowMs() - this.#endingSinceMs < SAME_SIGNAL_MS) return;
    this.#log.warn({ reason: signal }, "process.ended-at-once");
    process.exit(1);
  }

  async #end(reason: string, serveOnMs: number): Promise<void> {
    this.#endingSinceMs = systemClock.nowMs();
    const isServing = this.#onDrain.length > 0;
    this.#log.info({ reason, serveOnMs: isServing ? serveOnMs : 0 }, "process.ending");
    for (const begin of this.#onDrain) begin();
    if (isServing && serveOnMs > 0) await sleep(serveOnMs);
    await this.#close();
    this.#log.info("process.ended");
    process.stdin.destroy();
    // Anything that still keeps the process alive is a leftover, such as the timer of a retry or an abandoned socket.
    setTimeout(() => {
      this.#log.warn({ held: process.getActiveResourcesInfo() }, "process.kept-alive");
      process.exit();
    }, LINGER_MS).unref();
  }

  async #close(): Promise<void> {
    this.#abort.abort();
    const open = new Set(this.#owned.map(({ name }) => name));
    const deadline = setTimeout(() => {
      this.#log.error({ open: [...open] }, "process.did-not-close");
      process.exit(1);
    }, this.#closeMs);
    for (const { name, close } of this.#owned.reverse()) {
      try {
        await close();
      } catch (error) {
        this.#log.error({ err: error, name }, "process.close-failed");
        process.exitCode = 1;
      }
      open.delete(name);
    }
    clearTimeout(deadline);
  }
}
