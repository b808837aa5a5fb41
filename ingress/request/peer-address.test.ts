import { expect, test } from "vitest";
import { PeerAddresses } from "./peer-address.ts";

const bytesOf = (...bytes: number[]): ArrayBuffer => Uint8Array.from(bytes).buffer;
const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255];

test("a peer's address reads in its normal form, the first time and every later time", () => {
  const peers = new PeerAddresses();
  for (let time = 0; time < 2; time += 1) {
    expect(peers.textOf(bytesOf(127, 0, 0, 1))).toBe("127.0.0.1");
    expect(peers.textOf(bytesOf(...MAPPED, 203, 0, 113, 9))).toBe("203.0.113.9");
    const documentation = [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    expect(peers.textOf(bytesOf(...documentation))).toBe("2001:db8::1");
    expect(peers.textOf(bytesOf())).toBe("");
  }
});
