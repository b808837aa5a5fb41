import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { openLog } from "./log.ts";
import { startSystemdWatchdog } from "./systemd-watchdog.ts";

const log = openLog({ process: "test", level: "silent" });
/** Stands for systemd: Node.js has no datagram sockets of files. Prints each message. */
const RECEIVER = `use Socket; $| = 1;
  socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or die; bind($socket, sockaddr_un($ARGV[0])) or die;
  print "bound\\n"; while (defined recv($socket, my $message, 100, 0)) { print "$message\\n" }`;

async function receiver(): Promise<{ path: string; lines: AsyncIterator<string> }> {
  const folder = mkdtempSync(join(tmpdir(), "tracker-notify-"));
  const path = join(folder, "notify");
  const perl = spawn("perl", ["-e", RECEIVER, path], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: perl.stdout })[Symbol.asyncIterator]();
  onTestFinished(async () => {
    perl.kill("SIGKILL");
    await once(perl, "exit");
    rmSync(folder, { recursive: true });
  });
  expect((await lines.next()).value).toBe("bound");
  return { path, lines };
}

test("systemd hears more than once in WatchdogSec that the event loop turns", async () => {
  const { path, lines } = await receiver();
  startSystemdWatchdog(log, {
    NOTIFY_SOCKET: path,
    WATCHDOG_USEC: "300000",
    WATCHDOG_PID: String(process.pid),
  });
  for (let i = 0; i < 3; i += 1) expect((await lines.next()).value).toBe("WATCHDOG=1");
});

test.each([
  ["no watchdog is asked for", {}],
  ["it is asked of the parent", { WATCHDOG_USEC: "300000", WATCHDOG_PID: "1" }],
  ["the time is none", { WATCHDOG_USEC: "0" }],
])("nothing is sent when %s", async (_, environment) => {
  const { path, lines } = await receiver();
  startSystemdWatchdog(log, { NOTIFY_SOCKET: path, ...environment });
  startSystemdWatchdog(log, { NOTIFY_SOCKET: "", WATCHDOG_USEC: "300000" });
  const own = { NOTIFY_SOCKET: path, WATCHDOG_USEC: "900000000" };
  startSystemdWatchdog(log, own);
  // The one message is the last call's.
  expect((await lines.next()).value).toBe("WATCHDOG=1");
  const next = lines.next().then(() => "a second message");
  const quiet = new Promise<string>((resolve) => setTimeout(resolve, 300, "quiet"));
  expect(await Promise.race([next, quiet])).toBe("quiet");
});
