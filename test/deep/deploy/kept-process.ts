import { setTimeout as sleep } from "node:timers/promises";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { ChildServer } from "../../system/child-server.ts";
import { childrenOf, killNow } from "../../system/processes.ts";

/** `RestartSec` of the units in deploy/systemd. */
const RESTART_MS = 1_000;
/** `RestartPreventExitStatus` of the units. */
const FINAL_CODES: ReadonlySet<number | null> = new Set([2, 3]);

/** `tracker <args>` under a supervisor, as the units of deploy/systemd run it: whatever ends it, it is started again a second later. */
export class KeptProcess {
  readonly name: string;
  readonly #args: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildServer | undefined;
  #keeping: Promise<void> = Promise.resolve();
  #isKept = false;

  constructor(name: string, args: readonly string[], env: Readonly<Record<string, string>>) {
    this.name = name;
    this.#args = args;
    this.#env = env;
  }

  start(): void {
    this.#isKept = true;
    this.#child = this.#spawn();
    this.#keeping = this.#keep();
  }

  get output(): string {
    return this.#child?.output ?? "";
  }

  /** Sends kill -9; the supervisor starts it again. */
  kill(): void {
    this.#child?.signal("SIGKILL");
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.signal(signal);
  }

  /** Pids of the processes that it has started. */
  async children(): Promise<number[]> {
    return await childrenOf(this.#child?.pid ?? 0);
  }

  /** Sends kill -9 to one of its own children, such as an ingress worker. */
  async killChild(): Promise<void> {
    const [child] = await this.children();
    if (child === undefined) throw new Error(`${this.name} has no child: ${this.output}`);
    killNow(child);
  }

  /** Ends it in order, for good until the next start. Returns the exit code. */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    this.#isKept = false;
    const code = await this.#child?.end(signal);
    await this.#keeping;
    return code ?? null;
  }

  async #keep(): Promise<void> {
    while (this.#isKept && this.#child !== undefined) {
      const code = await this.#child.ended;
      if (!this.#isKept || FINAL_CODES.has(code)) return;
      await sleep(RESTART_MS);
      if (this.#isKept) this.#child = this.#spawn();
    }
  }

  #spawn(): ChildServer {
    const program = projectFile(".build", "deploy", "tracker.js");
    return ChildServer.spawn([process.execPath, program, ...this.#args], this.#env);
  }
}
