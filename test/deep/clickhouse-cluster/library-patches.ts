import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { DataType, load, open } from "ffi-rs";

/**
 * What the library of the embedded engine lacks to be a replica of a cluster. It has all code of replication, but clickhouse-local, whose main
 * function it runs, never says how other replicas reach it, and never listens for them. Changes of the loaded library, in the memory of one
 * process of a test, do so. The file is not changed, and nothing of this is in the product.
 */

/** Functions of `@chdb/lib-linux-x64-gnu@26.7.3-stable.1`. Any other library has its functions elsewhere. */
const FUNCTIONS = {
  /** `Context::getInterserverIOAddress`. To find it: only it uses the text "Parameter 'interserver_http(s)_port' required". */
  address: { at: 0x1417c9c0, code: "4156 53 4883ec48 4c8b36 490fbe8e67010000" },
  /** `Context::getInterserverScheme`: the function behind it. */
  scheme: { at: 0x1417cac0, code: "488b06 80b88701000000 781a" },
  /** `Context::getInterserverCredentials`: the function before it. It returns a shared pointer in rax and rdx. */
  credentials: { at: 0x1417c940, code: "4157 4156 53 4c8b3f 498d9f88010000" },
  /** `createHandlerFactory`. To find it: only it uses the text "InterserverIOHTTPHandler-factory". Its fourth argument names a kind of handler. */
  handlers: { at: 0x18395cc0, code: "55 4157 4156 4155 4154 53 4881ec98000000" },
} as const;

const LIBC = "libc of the patches";
const PAGE_BYTES = 4_096;
const READ_WRITE_EXECUTE = 7;
const PRIVATE_ANONYMOUS = 0x22;
/** A text of libc++ within 24 bytes: its length is in the last byte. */
const SHORT_TEXT_MAX = 22;
/** The last bit of a text that is elsewhere: address, length, capacity. */
const LONG_TEXT = 1n << 63n;
const KIND = "InterserverIOHTTPHandler-factory";
const PLACES = { counter: 0x100, text: 0x110, characters: 0x140, credentials: 0x180 } as const;
const TEXT_BYTES = 24;

export type Replica = {
  /** The library, which is loaded already. */
  readonly library: string;
  /** Where other replicas reach this one. */
  readonly host: string;
  readonly port: number;
  /** How replicas sign in to each other: `interserver_http_credentials`. */
  readonly user: string;
  readonly password: string;
};

/**
 * From now on the engine gives `host` and `port` to Keeper, every second of its HTTP listeners answers other replicas, and replicas sign in to each
 * other with the same user and password.
 *
 * @throws {Error} if the library is another one.
 */
export function makeReplica({ library, host, port, user, password }: Replica): void {
  const base = baseOf(library);
  const memory = openSync("/proc/self/mem", "r+");
  try {
    for (const { at, code } of Object.values(FUNCTIONS)) {
      const expected = bytesOf(code);
      const found = Buffer.alloc(expected.length);
      readSync(memory, found, 0, found.length, base + at);
      if (!found.equals(expected))
        throw new Error(
          `${library} is not the version whose functions test/deep/clickhouse-cluster/library-patches.ts knows: find them again, as it says`,
        );
    }
    const page = newPage();
    const bytes = handlersPage(page, base);
    credentials(page + PLACES.credentials, user, password).copy(bytes, PLACES.credentials);
    write(memory, page, bytes);
    write(memory, base + FUNCTIONS.address.at, returnsText(host, port));
    write(memory, base + FUNCTIONS.scheme.at, returnsText("http", 0));
    write(memory, base + FUNCTIONS.credentials.at, returnsPointer(page + PLACES.credentials));
    write(memory, base + FUNCTIONS.handlers.at, jumpTo(page));
  } finally {
    closeSync(memory);
  }
}

function baseOf(library: string): number {
  const line = readFileSync("/proc/self/maps", "utf8")
    .split("\n")
    .find((mapped) => mapped.endsWith(library) && mapped.includes(" 00000000 "));
  if (line === undefined) throw new Error(`${library} is not loaded`);
  return Number.parseInt(line, 16);
}

function newPage(): number {
  const { I32, I64 } = DataType;
  open({ library: LIBC, path: "libc.so.6" });
  const page = load({
    library: LIBC,
    funcName: "mmap",
    retType: I64,
    paramsType: [I64, I64, I32, I32, I32, I64],
    paramsValue: [0, PAGE_BYTES, READ_WRITE_EXECUTE, PRIVATE_ANONYMOUS, -1, 0],
  });
  if (page <= 0) throw new Error("the system gives no memory for the patches");
  return page;
}

/** Code that returns a text, and behind it a number of two bytes: the result is at rdi. */
function returnsText(text: string, number: number): Buffer {
  const bytes = shortText(text);
  return Buffer.concat([
    // mov rax, <8 bytes>; mov [rdi + offset], rax
    ...[0, 8, 16].flatMap((offset) => [
      bytesOf("48b8"),
      bytes.subarray(offset, offset + 8),
      bytesOf(`488947${hexByte(offset)}`),
    ]),
    // mov word [rdi + 24], number
    ...(number === 0 ? [] : [bytesOf("66c74718"), Buffer.from(Uint16Array.of(number).buffer)]),
    // mov rax, rdi; ret
    bytesOf("4889f8 c3"),
  ]);
}

/** mov rax, pointer; xor edx, edx; ret: a shared pointer whose object nobody counts. */
function returnsPointer(pointer: number): Buffer {
  return Buffer.concat([bytesOf("48b8"), address(pointer), bytesOf("31d2 c3")]);
}

/** `InterserverCredentials`: a pair of texts with which a replica signs in, and the list of all pairs that it accepts, here this pair. */
function credentials(at: number, user: string, password: string): Buffer {
  const end = address(at + 2 * TEXT_BYTES);
  return Buffer.concat([shortText(user), shortText(password), address(at), end, end]);
}

function shortText(text: string): Buffer {
  if (text.length > SHORT_TEXT_MAX) throw new Error(`too long for the patches: ${text}`);
  const bytes = Buffer.alloc(TEXT_BYTES);
  bytes.write(text, "latin1");
  bytes[TEXT_BYTES - 1] = text.length;
  return bytes;
}

/** Counts the calls; each second one asks for the handler of replicas. Then the function goes on. */
function handlersPage(page: number, base: number): Buffer {
  const begin = bytesOf(FUNCTIONS.handlers.code);
  const code = Buffer.concat([
    // push rax; mov rax, counter; add qword [rax], 1; test byte [rax], 1; pop rax; jnz over the next instruction
    bytesOf("50 48b8"),
    address(page + PLACES.counter),
    bytesOf("48830001 f60001 58 750a"),
    // mov rcx, text
    bytesOf("48b9"),
    address(page + PLACES.text),
    begin,
    jumpTo(base + FUNCTIONS.handlers.at + begin.length),
  ]);
  const bytes = Buffer.alloc(PAGE_BYTES);
  code.copy(bytes);
  bytes.writeBigUInt64LE(BigInt(page + PLACES.characters), PLACES.text);
  bytes.writeBigUInt64LE(BigInt(KIND.length), PLACES.text + 8);
  bytes.writeBigUInt64LE(LONG_TEXT | BigInt(KIND.length + 1), PLACES.text + 16);
  bytes.write(KIND, PLACES.characters, "latin1");
  return bytes;
}

/** jmp [the next 8 bytes] */
function jumpTo(target: number): Buffer {
  return Buffer.concat([bytesOf("ff2500000000"), address(target)]);
}

function address(of: number): Buffer {
  return Buffer.from(BigUint64Array.of(BigInt(of)).buffer);
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(" ", ""), "hex");
}

function hexByte(value: number): string {
  return value.toString(16).padStart(2, "0");
}

/** Writes also where the process itself may not. */
function write(memory: number, at: number, bytes: Buffer): void {
  const written = writeSync(memory, bytes, 0, bytes.length, at);
  if (written !== bytes.length) throw new Error("the system lets no process change its own code");
}
