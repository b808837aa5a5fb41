import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** The part of `DATA_DIR/demo.json` that the traffic needs. */
const DemoFile = z.object({
  base_url: z.string(),
  tracking_url: z.string(),
  postback_token: z.string(),
  keys: z.object({ admin: z.string() }),
});
export type DemoFile = z.infer<typeof DemoFile>;

export function readDemoFile(dataDir: string): DemoFile {
  return DemoFile.parse(JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8")));
}

const Progress = z.object({ begun: z.int() });

/** How many parts of the month have been begun. A part that was begun is never begun again, so that nothing counts twice. */
export class DemoProgress {
  readonly #file: string;

  constructor(dataDir: string) {
    this.#file = join(dataDir, "demo-traffic.json");
  }

  get begun(): number {
    if (!existsSync(this.#file)) return 0;
    return Progress.parse(JSON.parse(readFileSync(this.#file, "utf8"))).begun;
  }

  /** Must be called before the part's first request. */
  begin(part: number): void {
    writeFileSync(`${this.#file}.new`, `${JSON.stringify({ begun: part + 1 })}\n`, { flush: true });
    renameSync(`${this.#file}.new`, this.#file);
  }
}
