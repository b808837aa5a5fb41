import { createExternalBuffer, DataType, type JsExternal, load } from "ffi-rs";
import { C_LIBRARY } from "./c-library.ts";

const { I32, I64 } = DataType;
const PROT_NONE = 0;
const PROT_READ_WRITE = 3;
const MAP_SHARED = 0x01;
const MAP_PRIVATE = 0x02;
const MAP_FIXED = 0x10;
const MAP_ANONYMOUS = 0x20;
const MAP_NORESERVE = 0x40_00;
const MS_ASYNC = 1;
const ENOSPC = 28;
const EDQUOT = 122;
const NO_FILE = -1;
const FAILED = -1;

/**
 * Sets room on the disk aside, so that storing into the mapped file can never find it full; answers false when there is not
 * that much. Where `hasCLibrary()`. @throws for every other fault.
 */
export function reserveRoom(descriptor: number, bytes: number): boolean {
  const fault = load({
    library: C_LIBRARY,
    funcName: "posix_fallocate",
    retType: I32,
    paramsType: [I32, I64, I64],
    paramsValue: [descriptor, 0, bytes],
  });
  if (fault === 0) return true;
  if (fault === ENOSPC || fault === EDQUOT) return false;
  throw new Error(`room for the journal cannot be reserved: error ${fault}`);
}

/**
 * A place in memory through which one file after the other is seen: what is stored there is with the kernel at once, without a
 * call into it. It stays the same place, because the collector counts every new one by its full size, and runs for it.
 */
export class MappedWindow {
  readonly #address: JsExternal;
  /** Only what the newest {@link show} covers may be touched: elsewhere the process dies. */
  readonly bytes: Buffer;

  /** Where `hasCLibrary()`. @throws when the kernel gives no place. */
  constructor(size: number) {
    const flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    this.#address = load({
      library: C_LIBRARY,
      funcName: "mmap",
      retType: DataType.External,
      paramsType: [I64, I64, I32, I32, I32, I64],
      paramsValue: [0, size, PROT_NONE, flags, NO_FILE, 0],
    });
    // A failed mmap answers a pointer too: only the kernel can tell whether there is anything behind it.
    const fault = load({
      library: C_LIBRARY,
      funcName: "msync",
      retType: I32,
      paramsType: [DataType.External, I64, I32],
      paramsValue: [this.#address, size, MS_ASYNC],
    });
    if (fault !== 0) throw new Error("there is no place in memory for the journal");
    this.bytes = createExternalBuffer(this.#address, size);
  }

  /** Shows the first `length` bytes of a file, whose room must be reserved. @throws when the kernel does not. */
  show(descriptor: number, length: number): void {
    const shown = load({
      library: C_LIBRARY,
      funcName: "mmap",
      retType: I64,
      paramsType: [DataType.External, I64, I32, I32, I32, I64],
      paramsValue: [this.#address, length, PROT_READ_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0],
    });
    if (shown === FAILED) throw new Error("the journal cannot be mapped into memory");
  }

  /** `bytes` must not be touched any more. */
  close(): void {
    load({
      library: C_LIBRARY,
      funcName: "munmap",
      retType: I32,
      paramsType: [DataType.External, I64],
      paramsValue: [this.#address, this.bytes.length],
    });
  }
}
