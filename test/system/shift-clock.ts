/** Preloaded into a process (`node --import`): every 500 ms its clock jumps CLOCK_SHIFT_MS away from the machine's, or back. */
const shiftMs = Number(process.env["CLOCK_SHIFT_MS"] ?? "0");
const JUMP_EVERY_MS = 500;
const machineNow = Date.now.bind(Date);

function shiftedNow(): number {
  const nowMs = machineNow();
  return Math.floor(nowMs / JUMP_EVERY_MS) % 2 === 0 ? nowMs + shiftMs : nowMs;
}

globalThis.Date = new Proxy(Date, {
  construct: (target, args: readonly number[]): Date => {
    const [at = shiftedNow()] = args;
    return args.length > 1 ? new target(Date.UTC(at, args[1] ?? 0, args[2] ?? 1)) : new target(at);
  },
  get: (target, name): unknown => (name === "now" ? shiftedNow : Reflect.get(target, name)),
});
