import fc from "fast-check";
import { expect, test } from "vitest";
import {
  BATCH_BYTES_MAX,
  BATCH_RECORDS_MAX,
  decodeBatch,
} from "../../schemas/events/click-batch.ts";
import { LaneTail } from "./lane-tail.ts";

const HEAD = JSON.stringify({ producer: 1, epoch: 1, lane: 0, first: 0, at: 5 });

function push(tail: LaneTail, line: string): void {
  const bytes = Buffer.from(`##${line}##`);
  tail.push(bytes, 2, bytes.length - 2);
}

function linesOf(bytes: Uint8Array): readonly string[] {
  return decodeBatch(bytes).lines;
}

test("records leave in messages in their order, each once, within the bounds of a message", () => {
  const lengths = fc.oneof(
    { weight: 10, arbitrary: fc.nat(600) },
    fc.constantFrom(BATCH_BYTES_MAX - 1, BATCH_BYTES_MAX, BATCH_BYTES_MAX * 3),
  );
  const rounds = fc.array(fc.tuple(fc.array(lengths, { maxLength: 300 }), fc.nat(3)), {
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(
    fc.property(rounds, (steps) => {
      const tail = new LaneTail();
      const given: string[] = [];
      const sent: string[] = [];
      const send = (): boolean => {
        const message = tail.message();
        if (message === undefined) return false;
        expect(message.first).toBe(sent.length);
        const bytes = message.withHead(HEAD);
        const lines = linesOf(bytes);
        expect([lines.length, lines.at(-1)]).toEqual([message.records, message.lastLine()]);
        expect(lines.length).toBeLessThanOrEqual(BATCH_RECORDS_MAX);
        expect(lines.length === 1 || bytes.length <= BATCH_BYTES_MAX + 256).toBe(true);
        sent.push(...lines);
        tail.dropBefore(message.first + message.records);
        return true;
      };
      for (const [added, messages] of steps) {
        for (const length of added) {
          const line = `${given.length}:${"x".repeat(length)}`;
          given.push(line);
          push(tail, line);
        }
        for (let message = 0; message < messages; message += 1) send();
      }
      while (send());
      expect(sent).toEqual(given);
      expect([tail.first, tail.bytes]).toEqual([given.length, 0]);
    }),
    { numRuns: 30 },
  );
});

test("a message being sent stays unchanged while records are dropped and added", () => {
  const tail = new LaneTail();
  push(tail, "first");
  const message = tail.message();
  const before = Buffer.from(message?.withHead(HEAD) ?? "").toString();
  for (let number = 0; number < 3_000; number += 1) push(tail, `later ${number}`);
  tail.shrinkTo(BATCH_BYTES_MAX * 2);
  expect(tail.first).toBeGreaterThan(1);
  for (let number = 0; number < 3_000; number += 1) push(tail, `last ${number}`);
  expect(Buffer.from(message?.withHead(HEAD) ?? "").toString()).toBe(before);
  expect(tail.next).toBe(6_001);
});
