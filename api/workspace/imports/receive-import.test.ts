import fc from "fast-check";
import { expect, test } from "vitest";
import { inParts } from "./receive-import.ts";

async function* each(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield await Promise.resolve(piece);
}

test("parts hold every byte in order, and each but the last is as large as it must be", async () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 12 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(pieces, fc.integer({ min: 1, max: 20 }), async (given, bytesMin) => {
      const parts: Buffer[] = [];
      for await (const part of inParts(each(given), bytesMin)) parts.push(part);
      expect(Buffer.concat(parts)).toEqual(Buffer.concat(given));
      expect(parts.every((part) => part.byteLength > 0)).toBe(true);
      expect(parts.slice(0, -1).every((part) => part.byteLength >= bytesMin)).toBe(true);
    }),
  );
});
