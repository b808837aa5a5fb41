import { setTimeout } from "node:timers/promises";
import { afterAll } from "vitest";

/** Opening takes less than a second; on a machine with many other tests it may take minutes. */
const OPEN_MS_MAX = 5 * 60_000;

/**
 * Waits for something that all tests of a file use, and closes it after them. Called at the top level of the file, whose tests then
 * have it in a constant. @throws if opening fails or takes more than five minutes
 */
export async function forThisFile<Opened extends { close(): Promise<unknown> } | AsyncDisposable>(
  opening: Opened | Promise<Opened>,
): Promise<Opened> {
  const opened = await Promise.race([opening, tooLate()]);
  afterAll(() => ("close" in opened ? opened.close() : opened[Symbol.asyncDispose]()));
  return opened;
}

async function tooLate(): Promise<never> {
  await setTimeout(OPEN_MS_MAX, undefined, { ref: false });
  throw new Error(`not open within ${OPEN_MS_MAX / 60_000} minutes`);
}
