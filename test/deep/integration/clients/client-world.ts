import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { ApiWorld } from "../../../integration/api/api-world.ts";

export const ROOT = resolve(import.meta.dirname, "../../../..");
const RUN_MS_MAX = 150_000;
const Output = z.looseObject({});

const execFileDone = promisify(execFile);

/** The API with a budget of requests that a program reaches, a folder for the program, and what it is called with. */
export class ClientWorld {
  readonly folder: string;
  readonly #world: ApiWorld;
  readonly #limitedOrigin: string;

  private constructor(world: ApiWorld, limitedOrigin: string, folder: string) {
    this.#world = world;
    this.#limitedOrigin = limitedOrigin;
    this.folder = folder;
  }

  static async open(): Promise<ClientWorld> {
    const world = await ApiWorld.open();
    await world.startProcessor();
    const limited = await world.startAnother({ rateLimit: 3 });
    return new ClientWorld(world, limited, await mkdtemp(join(tmpdir(), "tracker-client-")));
  }

  /** Addresses, keys and accounts, in the order in which the programs read them. */
  get args(): string[] {
    const { keys, advertiserId, affiliateCode } = this.#world.tenant;
    return [
      `${this.#world.origin}/api/v1`,
      `${this.#limitedOrigin}/api/v1`,
      keys.admin,
      keys.analyst,
      String(advertiserId),
      affiliateCode,
    ];
  }

  /** Runs a program in the folder. Its standard output. @throws with the whole output if it fails. */
  async run(
    program: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
  ): Promise<string> {
    const options = { cwd: this.folder, timeout: RUN_MS_MAX, env: { ...process.env, ...env } };
    const { stdout } = await execFileDone(program, args, options).catch((error: unknown) => {
      const { stdout: out, stderr } = z
        .looseObject({ stdout: z.string(), stderr: z.string() })
        .parse(error);
      throw new Error(`${program} ${args.join(" ")} failed:\n${out}${stderr}`, { cause: error });
    });
    return stdout;
  }

  async runForJson(program: string, args: readonly string[]): Promise<Record<string, unknown>> {
    return Output.parse(JSON.parse(await this.run(program, args)));
  }

  async close(): Promise<void> {
    await this.#world.close();
    await rm(this.folder, { recursive: true });
  }
}

/** What both programs must print. */
export const WALKED = {
  payout: "10.0000",
  page: 2,
  hasMore: true,
  all: ["Three", "Two", "One"],
  wrong: [400, "validation_failed", ["payout"], true],
  absent: ["not_found", true],
  changed: ["rejected", "returned"],
  conversions: ["rejected"],
  report: [["offer"], ["offer", "clicks", "payout"]],
  csv: "Offer,Offer ID,Clicks,Payout (USD)",
  costs: 1,
  imported: ["partners.json", "json", true, 22],
  overBudget: [429, "rate_limited", true],
  waited: "analyst",
};
