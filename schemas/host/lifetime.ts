import type { Log } from "./log.ts";

const CLOSE_DEADLINE_MS = 15_000;
const LINGER_MS = 1_000;

/**
 * Closes what a process has opened, in reverse order, when the process must end. `main.ts` shows the order of start; each `own` registers
 * how to undo a step. If closing takes too long, ends the process with code 1 and names what did not close.
 */
export class Lifetime {
  readonly #log: Log;
  readonly #abort = new AbortController();
  readonly #owned: { name: string; close: () => Promise<void> | void }[] = [];
  #ending: Promise<void> | undefined;

  /** With `endWithParent` the process ends when its standard input ends: the launcher holds the other end. */
  constructor(log: Log, options: { readonly endWithParent: boolean }) {
    this.#log = log;
    for (const signal of ["SIGTERM", "SIGINT"] as const)
      process.on(signal, () => void this.end(signal));
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

  /** Aborted when the process begins to end. Pass it to everything that waits. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** From the moment on when the process was asked to end. `/readyz` is 503 then. */
  get isDraining(): boolean {
    return this.#ending !== undefined;
  }

  own(name: string, close: () => Promise<void> | void): void {
    this.#owned.push({ name, close });
  }

  /** Closes everything once; later calls wait for the first. */
  end(reason: string): Promise<void> {
    this.#ending ??= this.#end(reason);
    return this.#ending;
  }

  async #end(reason: string): Promise<void> {
    this.#log.info({ reason }, "process.ending");
    this.#abort.abort();
    const open = new Set(this.#owned.map(({ name }) => name));
    const deadline = setTimeout(() => {
      this.#log.error({ open: [...open] }, "process.did-not-close");
      process.exit(1);
    }, CLOSE_DEADLINE_MS);
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
    this.#log.info("process.ended");
    process.stdin.destroy();
    // Anything that still keeps the process alive is a leftover, such as the timer of a retry or an abandoned socket.
    setTimeout(() => {
      this.#log.warn({ held: process.getActiveResourcesInfo() }, "process.kept-alive");
      process.exit();
    }, LINGER_MS).unref();
  }
}
