import { createExternalBuffer, DataType, load } from "ffi-rs";
import { C_LIBRARY } from "./c-library.ts";

const PROT_READ_WRITE = 3;
const MAP_SHARED = 1;
const MS_ASYNC = 1;
const ENOSPC = 28;
const EDQUOT = 122;

/** A file's bytes as memory, where `hasCLibrary()`: what is stored there is with the kernel at once, without a call into it. */
export type MappedFile = {
  readonly bytes: Buffer;
  /** `bytes` must not be touched any more: the process would die. */
  readonly unmap: () => void;
};

/**
 * Sets room on the disk aside, so that storing into the mapped file can never find it full; answers false when there is not
 * that much. @throws for every other fault.
 */
export function reserveRoom(descriptor: number, bytes: number): boolean {
  const fault = load({
    library: C_LIBRARY,
    funcName: "posix_fallocate",
    retType: DataType.I32,
    paramsType: [DataType.I32, DataType.I64, DataType.I64],
    paramsValue: [descriptor, 0, bytes],
  });
  if (fault === 0) return true;
  if (fault === ENOSPC || fault === EDQUOT) return false;
  throw new Error(`room for the journal cannot be reserved: error ${fault}`);
}

/** Maps the first `bytes` of a file, whose room must be reserved. @throws when the kernel does not. */
export function mapFile(descriptor: number, bytes: number): MappedFile {
  const address = load({
    library: C_LIBRARY,
    funcName: "mmap",
    retType: DataType.External,
    paramsType: [
      DataType.I64,
      DataType.I64,
      DataType.I32,
      DataType.I32,
      DataType.I32,
      DataType.I64,
    ],
    paramsValue: [0, bytes, PROT_READ_WRITE, MAP_SHARED, descriptor, 0],
  });
  const range = { paramsType: [DataType.External, DataType.I64], paramsValue: [address, bytes] };
  // A failed mmap answers a pointer too: only the kernel can tell whether there is anything behind it.
  const fault = load({
    library: C_LIBRARY,
    funcName: "msync",
    retType: DataType.I32,
    paramsType: [...range.paramsType, DataType.I32],
    paramsValue: [...range.paramsValue, MS_ASYNC],
  });
  if (fault !== 0) throw new Error("the journal cannot be mapped into memory");
  return {
    bytes: createExternalBuffer(address, bytes),
    unmap: () => {
      load({ library: C_LIBRARY, funcName: "munmap", retType: DataType.I32, ...range });
    },
  };
}
