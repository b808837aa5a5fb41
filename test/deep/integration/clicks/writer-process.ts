import { FOUR_LANES } from "../../../samples/four-lanes.ts";
import { ChildServer } from "../../../system/child-server.ts";
import { nodeProgram } from "../../../system/service-program.ts";
import { until } from "../../../system/until.ts";

/** The lanes of offers, and the lane of clicks without an offer. */
const LANES = FOUR_LANES.all.length;
/** Lines kept of its log, for the message of a failed test. */
const LINES_MAX = 200;

/** A click writer as a process of its own, to be killed and frozen. Needs the compiled program: `npm run build` first. */
export class WriterProcess {
  readonly #child: ChildServer;
  readonly #lines: string[] = [];
  /** Lanes that it has opened, by number, with the epoch. */
  readonly epochs = new Map<number, number>();

  private constructor(env: Readonly<Record<string, string>>) {
    this.#child = ChildServer.spawn(nodeProgram("processors"), env, (line) => {
      this.#lines.push(line);
      if (this.#lines.length > LINES_MAX) this.#lines.shift();
      const opened = /"lane":(\d+),"epoch":(\d+),.*"msg":"clicks\.lane-open"/.exec(line);
      if (opened !== null) this.epochs.set(Number(opened[1]), Number(opened[2]));
    });
  }

  static start(env: Readonly<Record<string, string>>): WriterProcess {
    return new WriterProcess(env);
  }

  async untilOpen(): Promise<void> {
    const isOpen = (): boolean => this.epochs.size === LANES;
    await until("all lanes are open", isOpen, { timeoutMs: 60_000, pollMs: 10 }).catch(
      (error: unknown) => {
        throw new Error(this.#lines.join("\n"), { cause: error });
      },
    );
  }

  freeze(): void {
    this.#child.signal("SIGSTOP");
  }

  thaw(): void {
    this.#child.signal("SIGCONT");
  }

  get isRunning(): boolean {
    return this.#child.isRunning;
  }

  /** Ends it, by default with kill -9, and waits until it is gone. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    await this.#child.end(signal);
  }

  /** The last lines that contain `text`. */
  said(text: string): string[] {
    return this.#lines.filter((line) => line.includes(text));
  }
}
