import { z } from "zod";

/** How many signals of `AbortSignal.any` Node keeps for `signal`. It keeps them, even unreachable ones, as long as `signal` itself. */
export function dependentSignals(signal: AbortSignal): number {
  const key = Object.getOwnPropertySymbols(signal).find(
    ({ description }) => description === "kDependantSignals",
  );
  return key === undefined ? 0 : z.object({ size: z.int() }).parse(Reflect.get(signal, key)).size;
}
