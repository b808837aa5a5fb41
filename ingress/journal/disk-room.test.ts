import { expect, test } from "vitest";
import { usualReserve } from "./disk-room.ts";

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

test.each([
  [8 * MIB, 2 * MIB],
  [2 * GIB, 0.5 * GIB],
  [4 * GIB, GIB],
  [20 * GIB, GIB],
  [100 * GIB, 5 * GIB],
])(
  "of a disk of %i bytes the journal leaves %i free: 5 %, at least 1 GiB, at most a quarter (#22)",
  (disk, reserve) => {
    expect(usualReserve(disk)).toBe(reserve);
  },
);
