import { open, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Files that hold messages of the click stream in the store of a NATS server, in the order of the stream. */
export async function blocksOf(store: string): Promise<string[]> {
  const files = await readdir(store, { recursive: true });
  const blocks = files.filter((file) => /CLICKS\/msgs\/\d+\.blk$/.test(file));
  return blocks
    .toSorted((a, b) => Number(/(\d+)\.blk$/.exec(a)?.[1]) - Number(/(\d+)\.blk$/.exec(b)?.[1]))
    .map((file) => join(store, file));
}

/** Flips one bit in each of `count` bytes of the click stream of a server that does not run. `random` is from 0 to 1. */
export async function flipBytes(store: string, count: number, random: () => number): Promise<void> {
  const blocks = await blocksOf(store);
  for (let flips = 0; flips < count; flips += 1)
    await flipByte(blocks[Math.floor(random() * blocks.length)] ?? "", random);
}

async function flipByte(path: string, random: () => number): Promise<void> {
  const file = await open(path, "r+");
  try {
    const at = Math.floor(random() * (await file.stat()).size);
    const byte = Buffer.alloc(1);
    await file.read(byte, 0, 1, at);
    byte[0] = (byte[0] ?? 0) ^ (1 << Math.floor(random() * 8));
    await file.write(byte, 0, 1, at);
  } finally {
    await file.close();
  }
}
