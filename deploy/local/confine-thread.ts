import { closeSync, constants, openSync, statSync } from "node:fs";
import { DataType, load, open } from "ffi-rs";

/** What a confined thread may still do. Everything else that Landlock knows is refused, such as running programs. */
export interface Confinement {
  /** Files and folders. Those that do not exist are left out. */
  readable: readonly string[];
  /** Folders in which everything may be read, written, made and removed. */
  writable: readonly string[];
  /** Devices that may be read and written. */
  devices: readonly string[];
  /** TCP ports on which it may listen and to which it may connect. */
  ports: readonly number[];
}

const LIBRARY = "libc of the confinement";
const { I32, I64, U8Array } = DataType;
/** The same on every processor. */
const CREATE_RULESET = 444;
const ADD_RULE = 445;
const RESTRICT_SELF = 446;
const ASK_VERSION = 1;
const RULE_OF_PATH = 1;
const RULE_OF_PORT = 2;
const PR_SET_NO_NEW_PRIVS = 38;

const FILE = { execute: 1n << 0n, write: 1n << 1n, read: 1n << 2n, truncate: 1n << 14n } as const;
const READ_FOLDER = 1n << 3n;
const MAKE_DEVICES = (1n << 6n) | (1n << 11n);
const IOCTL = 1n << 15n;
const LISTEN_AND_CONNECT = 3n;
/** Abstract sockets, and signals to processes outside. */
const SCOPES = 3n;
/** Without this version, no file could be renamed into another folder, and the engine does that. */
const VERSION_MIN = 2;
const RIGHTS_BY_VERSION: readonly (readonly [version: number, rights: bigint])[] = [
  [5, 0xffffn],
  [3, 0x7fffn],
  [VERSION_MIN, 0x3fffn],
];
const VERSION_OF_PORTS = 4;
const VERSION_OF_SCOPES = 6;

/**
 * Takes from the calling thread, and from every thread that it starts from now on, the right to all that `confinement` does not name: with
 * Landlock, which needs no root. Threads that run already keep their rights. It cannot be undone.
 *
 * @returns undefined, or why the kernel cannot do all of it: it is too old for a part, or this is not Linux.
 * @throws {Error} if the kernel refuses a rule.
 */
export function confineThread(confinement: Confinement): string | undefined {
  if (process.platform !== "linux") return "this system has no Landlock";
  open({ library: LIBRARY, path: "libc.so.6" });
  const version = systemCall(CREATE_RULESET, [I64, I64, I64], [0, 0, ASK_VERSION]);
  const rights = RIGHTS_BY_VERSION.find(([since]) => version >= since)?.[1];
  if (rights === undefined) return "this kernel has no Landlock, or a container denies it";
  const ruleset = createRuleset(version, rights);
  try {
    const { readable, writable, devices, ports } = confinement;
    for (const path of readable) addPath(ruleset, path, rights & (FILE.read | READ_FOLDER));
    for (const path of devices) addPath(ruleset, path, rights & (FILE.read | FILE.write));
    for (const path of writable)
      addPath(ruleset, path, rights & ~(FILE.execute | MAKE_DEVICES | IOCTL));
    if (version >= VERSION_OF_PORTS) for (const port of ports) addPort(ruleset, port);
    restrict(ruleset);
  } finally {
    closeSync(ruleset);
  }
  return version >= VERSION_OF_PORTS ? undefined : "this kernel cannot refuse connections";
}

function createRuleset(version: number, rights: bigint): number {
  const words = [rights];
  if (version >= VERSION_OF_PORTS) words.push(LISTEN_AND_CONNECT);
  if (version >= VERSION_OF_SCOPES) words.push(SCOPES);
  const attributes = Buffer.from(BigUint64Array.from(words).buffer);
  const types = [U8Array, I64, I64] as const;
  return checked(
    "the rules",
    systemCall(CREATE_RULESET, types, [attributes, attributes.byteLength, 0]),
  );
}

function addPath(ruleset: number, path: string, rights: bigint): void {
  const entry = statSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return;
  const descriptor = openSync(path, constants.O_RDONLY);
  try {
    const rule = Buffer.alloc(12);
    // A right that only a folder has is refused for a file.
    const ofFile = FILE.execute | FILE.write | FILE.read | FILE.truncate;
    rule.writeBigUInt64LE(entry.isDirectory() ? rights : rights & ofFile, 0);
    rule.writeInt32LE(descriptor, 8);
    const types = [I64, I64, U8Array, I64] as const;
    checked(path, systemCall(ADD_RULE, types, [ruleset, RULE_OF_PATH, rule, 0]));
  } finally {
    closeSync(descriptor);
  }
}

function addPort(ruleset: number, port: number): void {
  const rule = Buffer.from(BigUint64Array.of(LISTEN_AND_CONNECT, BigInt(port)).buffer);
  const types = [I64, I64, U8Array, I64] as const;
  checked(`port ${port}`, systemCall(ADD_RULE, types, [ruleset, RULE_OF_PORT, rule, 0]));
}

function restrict(ruleset: number): void {
  const fault = load({
    library: LIBRARY,
    funcName: "prctl",
    retType: I32,
    paramsType: [I32, I64, I64, I64, I64],
    paramsValue: [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0],
  });
  checked("no new privileges", fault);
  checked("the restriction", systemCall(RESTRICT_SELF, [I64, I64], [ruleset, 0]));
}

function systemCall(
  number: number,
  types: readonly (typeof I64 | typeof U8Array)[],
  values: readonly (number | Buffer)[],
): number {
  return load({
    library: LIBRARY,
    funcName: "syscall",
    retType: I64,
    paramsType: [I64, ...types],
    paramsValue: [number, ...values],
  });
}

function checked(what: string, result: number): number {
  if (result < 0) throw new Error(`the kernel refuses ${what} of the confinement`);
  return result;
}
