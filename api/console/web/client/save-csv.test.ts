import { expect, test } from "vitest";
import { LineCounter } from "./save-csv.ts";

test("lines are counted without the headings, wherever the bytes are cut", () => {
  const csv = new TextEncoder().encode('A,B\r\n"two\nlines","a ""quote"""\r\nx,y\r\n');
  for (let cut = 0; cut <= csv.length; cut += 1) {
    const counter = new LineCounter();
    counter.add(csv.subarray(0, cut));
    expect(counter.add(csv.subarray(cut))).toEqual({ lines: 2, bytes: csv.length });
  }
});
