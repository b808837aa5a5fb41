import { open } from "ffi-rs";

/** The name under which its functions are loaded. */
export const C_LIBRARY = "libc of this process";

let isOpen = false;

/** Whether system calls that Node.js lacks are possible: on Linux with glibc. Without them their callers use slower methods, or none. */
export function hasCLibrary(): boolean {
  if (isOpen) return true;
  if (process.platform !== "linux") return false;
  try {
    open({ library: C_LIBRARY, path: "libc.so.6" });
    isOpen = true;
    return true;
  } catch {
    // Another C library.
    return false;
  }
}
