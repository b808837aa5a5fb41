import { createHash } from "node:crypto";
import { closeSync, openSync, realpathSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DataType, load } from "ffi-rs";
import { C_LIBRARY, hasCLibrary } from "../../schemas/host/c-library.ts";

const LOCK_FILE = "lock";
const LOCK_EXCLUSIVE_NOW = 2 | 4;

/** Releases the lock. */
export type Unlock = () => Promise<void>;

/**
 * Takes a lock that ends with its process, however it ends. Returns undefined when another process has it. Uses a lock of the
 * file system where that is possible, so that containers with a common volume see each other's locks; elsewhere a listening
 * socket, which no second process can open.
 */
export async function lockFolder(path: string): Promise<Unlock | undefined> {
  return hasCLibrary() ? lockFile(join(path, LOCK_FILE)) : await lockSocket(path);
}

function lockFile(file: string): Unlock | undefined {
  const descriptor = openSync(file, "a", 0o600);
  const fault = load({
    library: C_LIBRARY,
    funcName: "flock",
    retType: DataType.I32,
    paramsType: [DataType.I32, DataType.I32],
    paramsValue: [descriptor, LOCK_EXCLUSIVE_NOW],
  });
  if (fault === 0) return () => Promise.resolve(closeSync(descriptor));
  closeSync(descriptor);
  return undefined;
}

/** A socket file may be left over, so connect to it before treating it as stale. */
async function lockSocket(path: string): Promise<Unlock | undefined> {
  const name = createHash("sha256").update(realpathSync(path)).digest("hex").slice(0, 32);
  const file = join(tmpdir(), `tracker-journal-${name}`);
  let server = await listen(file);
  if (server === undefined && !(await answers(file))) {
    rmSync(file, { force: true });
    server = await listen(file);
  }
  return server === undefined ? undefined : () => closed(server);
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.unref();
    server.once("error", (error: Error & { code?: string }) => {
      if (error.code === "EADDRINUSE") resolve(undefined);
      else reject(error);
    });
    server.listen(path, () => resolve(server));
  });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
