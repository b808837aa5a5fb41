import { createSocket } from "node:dgram";
import { isIPv4, isIPv6 } from "node:net";

export type Addresses = { readonly a: readonly string[]; readonly aaaa: readonly string[] };

export type NameServer = {
  /** `address:port`. */
  readonly address: string;
  /** The names that it resolves; other names do not exist. */
  readonly names: Map<string, Addresses>;
  /** Number of queries for a name so far, of any type. */
  queriesFor(name: string): number;
  close(): Promise<void>;
};

const TYPE_A = 1;
const TYPE_AAAA = 28;
const HEADER_BYTES = 12;
const NO_SUCH_NAME = 3;

/** A name server on 127.0.0.1 that answers address queries (RFC 1035, one question a message). */
export async function startNameServer(names: Map<string, Addresses>): Promise<NameServer> {
  const questions = new Map<string, number>();
  const socket = createSocket("udp4");
  socket.on("message", (message, from) => {
    const { name, type, end } = readQuestion(message);
    questions.set(name, (questions.get(name) ?? 0) + 1);
    const known = names.get(name);
    const wanted = type === TYPE_A ? known?.a : type === TYPE_AAAA ? known?.aaaa : undefined;
    const records = (wanted ?? []).map((address) => record(type, addressBytes(address)));
    const header = Buffer.alloc(HEADER_BYTES);
    message.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (known === undefined ? NO_SUCH_NAME : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    const question = message.subarray(HEADER_BYTES, end);
    socket.send(Buffer.concat([header, question, ...records]), from.port, from.address);
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, "127.0.0.1", resolve);
  });
  return {
    address: `127.0.0.1:${socket.address().port}`,
    names,
    queriesFor: (name) => questions.get(name) ?? 0,
    close: () =>
      new Promise((resolve) => {
        socket.close(resolve);
      }),
  };
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.subarray(at + 1, at + 1 + length).toString("latin1"));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

/** A record of the name in the question, with a TTL of 0 so that no client caches it. */
function record(type: number, address: Buffer): Buffer {
  const head = Buffer.alloc(HEADER_BYTES);
  head.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(address.length, 10);
  return Buffer.concat([head, address]);
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  if (!isIPv6(address)) throw new Error(`${address} is no address`);
  const [, tail = ""] = /(\d+\.\d+\.\d+\.\d+)$/.exec(address) ?? [];
  const plain = tail === "" ? address : address.replace(tail, hexOf(tail));
  const [before = "", after] = plain.split("::");
  const groupsOf = (text: string): string[] => (text === "" ? [] : text.split(":"));
  const [head, rest] = [groupsOf(before), groupsOf(after ?? "")];
  const zeros =
    after === undefined ? [] : Array.from({ length: 8 - head.length - rest.length }, () => "0");
  const hex = [...head, ...zeros, ...rest].map((group) => group.padStart(4, "0")).join("");
  return Buffer.from(hex, "hex");
}

/** The last 32 bits of an IPv6 address, written there as IPv4, as two hexadecimal groups. */
function hexOf(ipv4: string): string {
  return Buffer.from(ipv4.split(".").map(Number))
    .toString("hex")
    .replace(/^(....)/, "$1:");
}
