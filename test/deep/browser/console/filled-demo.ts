import { ConsoleBrowser } from "../../../browser/console/console-browser.ts";
import { signInRoles } from "../../../browser/console/sign-in-roles.ts";
import { type System, startSystem } from "../../../system/start-system.ts";
import { until } from "../../../system/until.ts";

/** How long a start with the month of traffic may take. */
export const FILLED_MS = 480_000;

/** A demo workspace with its month of traffic, and a browser in which its people are signed in. */
export class FilledDemo implements AsyncDisposable {
  readonly browser: ConsoleBrowser;
  readonly #system: System;

  private constructor(system: System, browser: ConsoleBrowser) {
    this.#system = system;
    this.browser = browser;
  }

  static async open(program: string): Promise<FilledDemo> {
    const system = await startSystem({ env: { DEMO_TRAFFIC: "1" } });
    const isFilled = (): boolean => system.output().includes("a month of traffic, made in");
    await until("the month of traffic is complete", isFilled, { timeoutMs: FILLED_MS / 2 });
    const cookies = await signInRoles(system);
    return new FilledDemo(system, await ConsoleBrowser.at(program, system.client.demo, cookies));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser.close();
    await this.#system[Symbol.asyncDispose]();
  }
}
