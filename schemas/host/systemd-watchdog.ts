import { DataType, load } from "ffi-rs";
import { C_LIBRARY, hasCLibrary } from "./c-library.ts";
import type { Log } from "./log.ts";

const AF_UNIX = 1;
const SOCK_DGRAM_CLOEXEC = 2 | 0o200_0000;
const MSG_NOSIGNAL = 0x40_00;
const MSG_DONTWAIT = 0x40;
const FAILED = -1;
const ALIVE = Buffer.from("WATCHDOG=1");

/**
 * Tells systemd three times in each WatchdogSec that the event loop of this process turns. A process that stands still says nothing, and
 * systemd kills it and starts it again. Does nothing where systemd does not ask for it (sd_watchdog_enabled(3)).
 */
export function startSystemdWatchdog(
  log: Log,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): void {
  const { WATCHDOG_USEC: usec = "", WATCHDOG_PID: pid, NOTIFY_SOCKET: path = "" } = environment;
  const isAsked = /^[1-9]\d{0,14}$/.test(usec) && /^[/@]./.test(path);
  // The variables are inherited by children, whom nobody watches.
  if (!isAsked || (pid !== undefined && pid !== String(process.pid))) return;
  const socket = openSocket();
  if (socket === undefined) {
    log.warn("systemd.watchdog-not-served");
    return;
  }
  const address = addressOf(path);
  const tell = (): void => send(socket, address);
  tell();
  setInterval(tell, Math.max(1, Number(usec) / 3_000)).unref();
}

function openSocket(): number | undefined {
  if (!hasCLibrary()) return undefined;
  const socket = load({
    library: C_LIBRARY,
    funcName: "socket",
    retType: DataType.I32,
    paramsType: [DataType.I32, DataType.I32, DataType.I32],
    paramsValue: [AF_UNIX, SOCK_DGRAM_CLOEXEC, 0],
  });
  return socket === FAILED ? undefined : socket;
}

/** A `sockaddr_un`. The name of an abstract socket begins with a zero byte, which systemd writes as "@". */
function addressOf(path: string): Buffer {
  const name = Buffer.from(path);
  if (path.startsWith("@")) name[0] = 0;
  const family = Buffer.alloc(2);
  family.writeUInt16LE(AF_UNIX);
  return Buffer.concat([family, name]);
}

/** A message that is not taken is followed by the next one; if none is, systemd starts the process again. */
function send(socket: number, address: Buffer): void {
  const { I32, U64, U8Array } = DataType;
  load({
    library: C_LIBRARY,
    funcName: "sendto",
    retType: DataType.I64,
    paramsType: [I32, U8Array, U64, I32, U8Array, I32],
    paramsValue: [
      socket,
      ALIVE,
      ALIVE.byteLength,
      MSG_NOSIGNAL | MSG_DONTWAIT,
      address,
      address.byteLength,
    ],
  });
}
