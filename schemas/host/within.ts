import { pause } from "./pause.ts";

/** The result of `work`, or "late" if it takes longer. Does not stop it. @throws what `work` throws in time. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | "late"> {
  const waiting = new AbortController();
  const late = async (): Promise<"late"> => {
    await pause(ms, waiting.signal);
    return "late";
  };
  try {
    return await Promise.race([work, late()]);
  } finally {
    waiting.abort();
  }
}
