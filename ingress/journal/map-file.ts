import { createExternalBuffer, DataType, type JsExternal, load } from "ffi-rs";
import { C_LIBRARY } from "../../schemas/host/c-library.ts";

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
 * Reserves disk space, so that a store into the mapped file can never fail because the disk is full. Returns false if there is not
 * enough space. Requires `hasCLibrary()`. @throws for every other error.
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
  throw new Error(`space for the journal cannot be reserved: error ${fault}`);
}

/**
 * A region of memory into which one file after the other is mapped. The kernel has stored bytes at once, without a system call, so
 * they outlive the process. The region is reused, because the garbage collector counts each new one by its full size and would run more
 * often.
 */
export class MappedWindow {
  readonly #address: JsExternal;
  /** Use only the bytes that the last {@link show} mapped: access to others kills the process. */
  readonly bytes: Buffer;

  /** Requires `hasCLibrary()`. @throws when the kernel gives no memory. */
  constructor(size: number) {
    const flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    this.#address = load({
      library: C_LIBRARY,
      funcName: "mmap",
      retType: DataType.External,
      paramsType: [I64, I64, I32, I32, I32, I64],
      paramsValue: [0, size, PROT_NONE, flags, NO_FILE, 0],
    });
    // mmap returns a pointer even if it failed. msync finds out whether memory is mapped there.
    const fault = load({
      library: C_LIBRARY,
      funcName: "msync",
      retType: I32,
      paramsType: [DataType.External, I64, I32],
      paramsValue: [this.#address, size, MS_ASYNC],
    });
    if (fault !== 0) throw new Error("the kernel gave no memory for the journal");
    this.bytes = createExternalBuffer(this.#address, size);
  }

  /** Maps the first `length` bytes of a file, which must be reserved, in place of the file before. @throws when the kernel refuses. */
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

  /** Do not use `bytes` afterwards. */
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
