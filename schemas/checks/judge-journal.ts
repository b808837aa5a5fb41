import { type Judgement, refusals, warns } from "./finding.ts";

export type JournalDisk = {
  readonly folder: string;
  /** `statfs` of the folder: the magic number of its file system. */
  readonly fileSystem: number;
  /** Whether a second process would be kept out of a locked folder; undefined where that was not tried. */
  readonly isLockKept: boolean | undefined;
  readonly sync: "interval" | "always" | "none";
};

/** File systems on which a synced click can be lost, or a lock is not seen by another machine. */
const UNSAFE: ReadonlyMap<number, { readonly name: string; readonly why: string }> = new Map([
  [0x01021994, { name: "tmpfs", why: "is memory and ends with the machine" }],
  [0x858458f6, { name: "ramfs", why: "is memory and ends with the machine" }],
  [0x794c7630, { name: "overlay", why: "ends with the container" }],
  [0x6969, { name: "NFS", why: "may acknowledge a sync too early and share locks too late" }],
  [0x65735546, { name: "FUSE", why: "does not promise that a sync reaches a disk" }],
  [0xff534d42, { name: "CIFS", why: "may acknowledge a sync too early" }],
  [0xfe534d42, { name: "SMB", why: "may acknowledge a sync too early" }],
  [0x01021997, { name: "9p", why: "does not promise that a sync reaches a disk" }],
]);

/** J1: an answered click is on a disk that keeps it, in a folder that one process has for itself. */
export function judgeJournal({ folder, fileSystem, isLockKept, sync }: JournalDisk): Judgement {
  // Node gives the number as the C library does: some file systems have one above 2^31, which may come with its sign.
  const unsafe = UNSAFE.get(fileSystem >>> 0);
  const faults = refusals(
    [
      unsafe !== undefined,
      `The journal folder ${folder} is on ${unsafe?.name ?? ""}, which ${unsafe?.why ?? ""}`,
    ],
    [
      isLockKept === false,
      `The file system of the journal folder ${folder} does not keep locks, so two processes could write one journal`,
    ],
    [
      sync === "none",
      "JOURNAL_SYNC is none, so a power cut can lose 30 seconds of answered clicks: set it to always or interval.",
    ],
  );
  if (sync !== "interval") return { faults };
  const sentence =
    "JOURNAL_SYNC is interval, so a power cut can lose the clicks of the last 20 ms that NATS did not have: set it to always if that is too much.";
  return { faults: [...faults, warns(sentence)] };
}
