/** Arguments of a leash process (leash.ts): which server to run, as which user, and how to stop it. */
export type LeashOrder = {
  readonly command: string;
  readonly args: readonly string[];
  readonly account?: { readonly uid: number; readonly gid: number } | undefined;
  /** The process record of the server itself, for a later start that finds it without its leash. */
  readonly recordFile: string;
  readonly stopSignal: StopSignal;
  /** Time between the two signals. */
  readonly deadlineMs: number;
  readonly forceSignal: StopSignal;
};

const SIGNALS = ["SIGTERM", "SIGINT", "SIGQUIT", "SIGKILL"] as const;
type StopSignal = (typeof SIGNALS)[number];

/** Checked by hand, because zod takes half of the processor time of a leash's start. @throws for any other text. */
export function readLeashOrder(text: string): LeashOrder {
  const order: unknown = JSON.parse(text);
  if (!isLeashOrder(order)) throw new Error(`not the order of a leash: ${text}`);
  return order;
}

function isLeashOrder(order: unknown): order is LeashOrder {
  if (!isObject(order)) return false;
  const { command, args, account, recordFile, deadlineMs, stopSignal, forceSignal } = order;
  const isServer =
    typeof command === "string" &&
    Array.isArray(args) &&
    args.every((arg) => typeof arg === "string") &&
    typeof recordFile === "string";
  const isAccount =
    account === undefined ||
    (isObject(account) && [account["uid"], account["gid"]].every(Number.isInteger));
  const isStop = [stopSignal, forceSignal].every(isStopSignal);
  return isServer && isAccount && isStop && isPositive(deadlineMs);
}

function isStopSignal(signal: unknown): boolean {
  return SIGNALS.some((name) => name === signal);
}

function isPositive(value: unknown): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
