import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { DataType, load, open } from "ffi-rs";

/**
 * What the library of the embedded engine lacks to be a replica of a cluster. It has all code of replication, but clickhouse-local, whose main
 * function it runs, never says at which address other replicas reach it, and never listens for them. Two changes of the loaded library, in the
 * memory of one process of a test, do so. The file is not changed, and nothing of this is in the product.
 */

/** Of `@chdb/lib-linux-x64-gnu@26.7.3-stable.1`. Any other library has its functions elsewhere. */
const FUNCTIONS = {
  /** `Context::getInterserverIOAddress`: throws without `interserver_io_host`. Finds it: the only use of the text "Parameter 'interserver_http(s)_port' required". */
  address: { at: 0x1417c9c0, code: "4156 53 4883ec48 4c8b36 490fbe8e67010000" },
  /** `createHandlerFactory`. Finds it: the only use of the text "InterserverIOHTTPHandler-factory". Its fourth argument is the name of a kind of handler. */
  handlers: { at: 0x18395cc0, code: "55 4157 4156 4155 4154 53 4881ec98000000" },
} as const;

const LIBC = "libc of the patches";
const PAGE_BYTES = 4_096;
const READ_WRITE_EXECUTE = 7;
const PRIVATE_ANONYMOUS = 0x22;
/** A text of libc++ within 24 bytes: its length is in the last one. */
const SHORT_TEXT_MAX = 22;
/** The last bit of a text that is elsewhere: address, length, capacity. */
const LONG_TEXT = 1n << 63n;
const KIND = "InterserverIOHTTPHandler-factory";
const PLACES = { counter: 0x100, text: 0x110, characters: 0x140 } as const;

export type Replica = {
  /** The library, which is loaded already. */
  readonly library: string;
  /** Where other replicas reach this one. */
  readonly host: string;
  readonly port: number;
};

/**
 * From now on the engine gives `host` and `port` to Keeper, and of its listeners for HTTP each second one answers other replicas.
 *
 * @throws {Error} if the library is another one.
 */
export function makeReplica({ library, host, port }: Replica): void {
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
    write(memory, base + FUNCTIONS.address.at, addressCode(host, port));
    const page = newPage();
    write(memory, page, handlersPage(page, base));
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

/** Returns the pair of host and port: the result is at rdi, a text of 24 bytes and a port of two. */
function addressCode(host: string, port: number): Buffer {
  const text = Buffer.alloc(SHORT_TEXT_MAX + 2);
  if (host.length > SHORT_TEXT_MAX) throw new Error(`the host ${host} is too long`);
  text.write(host, "latin1");
  text[SHORT_TEXT_MAX + 1] = host.length;
  return Buffer.concat([
    // mov rax, <8 bytes>; mov [rdi + offset], rax
    ...[0, 8, 16].flatMap((offset) => [
      bytesOf("48b8"),
      text.subarray(offset, offset + 8),
      bytesOf(`488947${hexByte(offset)}`),
    ]),
    // mov word [rdi + 24], port; mov rax, rdi; ret
    bytesOf("66c74718"),
    Buffer.from(Uint16Array.of(port).buffer),
    bytesOf("4889f8 c3"),
  ]);
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
