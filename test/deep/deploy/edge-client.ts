import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";

export type EdgeAnswer = {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
  /** Names in the certificate. */
  readonly names: string;
};

export type EdgeRequest = {
  readonly port: number;
  readonly host: string;
  readonly path: string;
  /** Whole header lines. */
  readonly headers?: readonly string[];
  /** Makes it a POST. */
  readonly sent?: Buffer;
  /** The client's own address, on the loopback network. */
  readonly from?: string;
  /** A balancer in front says by PROXY protocol v2 that the client has this address. */
  readonly proxied?: string;
};

const FORGED = "198.51.100.5";
/** What a client may claim and no edge may pass on. */
export const FORGED_HEADERS = [
  `X-Forwarded-For: ${FORGED}`,
  `X-Real-IP: ${FORGED}`,
  `Forwarded: for=${FORGED}`,
  "X-Forwarded-Proto: gopher",
  "X-Request-Id: forged-by-the-client",
];

const PATIENCE_MS = 20_000;

/** One request over TLS on a connection of its own. @throws when the edge refuses the name or gives no whole answer. */
export async function askEdge(request: EdgeRequest): Promise<EdgeAnswer> {
  const { port, host, path, headers = [], from = "127.0.0.1", proxied, sent } = request;
  const socket = connect({ host: "127.0.0.1", port, localAddress: from });
  socket.setTimeout(PATIENCE_MS, () =>
    socket.destroy(new Error("no answer from the edge in time")),
  );
  await once(socket, "connect");
  if (proxied !== undefined) socket.write(proxyHeader(proxied));
  // The authority is one of the test; what is checked is which names get a certificate.
  const tls = connectTls({ socket, servername: host, rejectUnauthorized: false });
  await once(tls, "secureConnect");
  const names = tls.getPeerCertificate().subjectaltname ?? "";
  const method = sent === undefined ? "GET" : "POST";
  const length = sent === undefined ? [] : [`Content-Length: ${sent.byteLength}`];
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, "Connection: close"];
  tls.write(`${[...lines, ...length, ...headers].join("\r\n")}\r\n\r\n`);
  if (sent !== undefined) tls.write(sent);
  return { ...readAnswer(await textOf(tls)), names };
}

async function textOf(socket: TLSSocket | Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}

function readAnswer(text: string): { status: number; headers: string; body: string } {
  const [head = "", ...body] = text.split("\r\n\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
  if (Number.isNaN(status)) throw new Error(`no answer: ${JSON.stringify(text.slice(0, 200))}`);
  return { status, headers: head.toLowerCase(), body: body.join("\r\n\r\n") };
}

/** Version 2, command PROXY, TCP over IPv4. */
function proxyHeader(address: string): Buffer {
  const addresses = Buffer.alloc(12);
  for (const [index, part] of address.split(".").entries())
    addresses.writeUInt8(Number(part), index);
  addresses.set([127, 0, 0, 1], 4);
  addresses.writeUInt16BE(40_000, 8);
  addresses.writeUInt16BE(443, 10);
  const head = Buffer.from([
    0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a,
  ]);
  return Buffer.concat([head, Buffer.from([0x21, 0x11, 0x00, addresses.length]), addresses]);
}
