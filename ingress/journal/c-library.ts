import { open } from "ffi-rs";

/** Under this name its functions are called. */
export const C_LIBRARY = "libc of the journal";

let isOpen = false;

/** Whether system calls that Node.js does not offer can be made: on Linux with glibc. Others do without. */
export function hasCLibrary(): boolean {
  if (isOpen) return true;
  if (process.platform !== "linux") return false;
  try {
    open({ library: C_LIBRARY, path: "libc.so.6" });
    isOpen = true;
    return true;
  } catch {
    // Another C library: the journal has a slower way for all that it needs.
    return false;
  }
}
