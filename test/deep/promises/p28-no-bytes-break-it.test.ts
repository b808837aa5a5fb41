import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { IngressFleet } from "../../system/ingress-fleet.ts";
import { residentBytes } from "../../system/processes.ts";
import {
  askOnce,
  askPipelined,
  forEachConcurrently,
  MalformedAnswerError,
  RawConnection,
  rawRequest,
} from "../../system/raw-http.ts";
import { SEED } from "../../system/seed.ts";
import { until } from "../../system/until.ts";

const FUZZED = IS_FULL ? 1_000_000 : 6_000;
const CONNECTIONS = 32;
const MEBIBYTE = 1024 ** 2;
/** The most that a process may grow under any of these loads, including its caches of user agents and addresses. */
const GROWTH_BYTES_MAX = 150 * MEBIBYTE;

const TARGET = "https://shop.example/x";
const LINK = `/c/KEY?url=${TARGET}`;

let fleet: IngressFleet;
let pid = 0;

beforeAll(async () => {
  fleet = await IngressFleet.open({ lanes: 1 });
  const { world } = fleet;
  const offerId = await world.addOffer();
  await world.insert("link_key", {
    workspace_id: world.workspaceId,
    key: "KEY",
    offer_id: offerId,
    affiliate_id: world.affiliateId,
  });
  await fleet.untilCurrent();
  [pid = 0] = fleet.pids;
});

afterAll(async () => {
  await fleet[Symbol.asyncDispose]();
});

/** Checks that the same process still answers every kind of path correctly, on a fresh connection. */
async function expectServing(): Promise<void> {
  expect(fleet.pids).toEqual([pid]);
  const [redirect, missing] = await askPipelined(fleet.port, [
    rawRequest(LINK),
    rawRequest("/c/KEY"),
  ]);
  expect(redirect?.headers.get("location")).toEqual([TARGET]);
  expect(missing?.status).toBe(400);
  const report = await askOnce(fleet.port, rawRequest("/pb?token=ws-token&click_id=0"));
  expect(report?.body).toContain('"ok":false');
  expect(fleet.output).not.toContain("ingress.handler-failed");
}

/** Sends the bytes, ends our half, and reads answers until the other side ends too. @throws if an answer is not HTTP. */
async function exchange(bytes: Uint8Array): Promise<number[]> {
  const connection = await RawConnection.open(fleet.port);
  const statuses: number[] = [];
  connection.send(bytes);
  connection.finish();
  try {
    for (;;) {
      // Only the sender knows that the answer to a HEAD has no body, so no HEAD is sent.
      const answer = await connection.answer();
      if (answer === undefined) return statuses;
      statuses.push(answer.status);
    }
  } finally {
    connection.destroy();
  }
}

const H = "Host: trk.example\r\n";
const smuggled = `GET ${LINK}-smuggled HTTP/1.1\r\n${H}\r\n`;
const post = (headers: string, body: string, path = "/pb"): string =>
  `POST ${path} HTTP/1.1\r\n${H}${headers}\r\n\r\n${body}`;

/** Requests whose end two parsers could see in different places. The request after each must not be executed. */
const SMUGGLING: Readonly<Record<string, string>> = {
  "two lengths": post("Content-Length: 0\r\nContent-Length: 64", smuggled),
  "two lengths on a link": post("Content-Length: 0\r\nContent-Length: 64", smuggled, LINK),
  "two lengths on GET": `GET ${LINK} HTTP/1.1\r\n${H}Content-Length: 0\r\nContent-Length: 9\r\n\r\n${smuggled}`,
  "two equal lengths": post("Content-Length: 0\r\nContent-Length: 0", smuggled),
  "a length and chunks": post(
    "Content-Length: 5\r\nTransfer-Encoding: chunked",
    `0\r\n\r\n${smuggled}`,
  ),
  "chunks and a length": post(
    "Transfer-Encoding: chunked\r\nContent-Length: 5",
    `0\r\n\r\n${smuggled}`,
  ),
  "an empty length": post("Content-Length: ", smuggled),
  "a signed length": post("Content-Length: +0", smuggled),
  "a hex length": post("Content-Length: 0x0", smuggled),
  "a list of lengths": post("Content-Length: 0, 0", smuggled),
  "a length of 2^64": post("Content-Length: 18446744073709551616", smuggled),
  "space before the colon": post("Content-Length : 0", smuggled),
  "chunks behind something": post("Transfer-Encoding: xchunked", `0\r\n\r\n${smuggled}`),
  "chunks in a list": post("Transfer-Encoding: identity, chunked", `0\r\n\r\n${smuggled}`),
  "chunks twice": post(
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    `0\r\n\r\n${smuggled}`,
  ),
  "chunks with a tab": post("Transfer-Encoding:\tchunked", `0\r\n\r\n${smuggled}`),
  "chunks on a link": post("Transfer-Encoding: chunked", `0\r\n\r\n${smuggled}`, LINK),
  "chunks on GET": `GET ${LINK} HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  "chunks that end early": post("Transfer-Encoding: chunked", `5\r\nhello0\r\n\r\n${smuggled}`),
  "chunks that end with a line feed": post("Transfer-Encoding: chunked", `0\n\n${smuggled}`),
  "a chunk extension": post(
    "Transfer-Encoding: chunked",
    `0;a=${"b".repeat(20)}\r\n\r\n${smuggled}`,
  ),
  "a trailer that is a request": post("Transfer-Encoding: chunked", `0\r\n${smuggled}`),
  "a chunk of a negative length": post("Transfer-Encoding: chunked", `-1\r\n\r\n${smuggled}`),
  "a chunk longer than any number": post(
    "Transfer-Encoding: chunked",
    `${"f".repeat(30)}\r\n${smuggled}`,
  ),
  "a line feed for a header's end": `POST /pb HTTP/1.1\r\n${H}X: a\nContent-Length: 0\r\n\r\n${smuggled}`,
  "a folded header": `POST /pb HTTP/1.1\r\n${H}X: a\r\n Content-Length: 0\r\n\r\n${smuggled}`,
  "two hosts": `GET ${LINK} HTTP/1.1\r\n${H}Host: evil.example\r\n\r\n${smuggled}`,
  "no host": `GET ${LINK} HTTP/1.1\r\n\r\n${smuggled}`,
  "another host in the target": `GET http://evil.example${LINK} HTTP/1.1\r\n${H}\r\n${smuggled}`,
  "an old version": `GET ${LINK} HTTP/1.0\r\n${H}\r\n${smuggled}`,
  "a newer version": `GET ${LINK} HTTP/2.0\r\n${H}\r\n${smuggled}`,
  "the preface of HTTP/2": `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${smuggled}`,
  "lines that end with line feeds": `GET ${LINK} HTTP/1.1\n${H}\n\n${smuggled}`,
  "a zero byte": `GET ${LINK} HTTP/1.1\r\n${H}X: a\0b\r\n\r\n${smuggled}`,
  "a zero byte in the target": `GET ${LINK}\0 HTTP/1.1\r\n${H}\r\n${smuggled}`,
  "a carriage return in a header": `GET ${LINK} HTTP/1.1\r\n${H}X: a\rContent-Length: 0\r\n\r\n${smuggled}`,
};

test("no request after one of ambiguous length is executed, in its segment or the next (P28)", async () => {
  const run = `smuggle${SEED}`;
  const named = Object.entries(SMUGGLING).map(([name, bytes], i) => ({
    name,
    bytes: bytes.replaceAll("-smuggled", `-${run}-${i}-`),
  }));
  await forEachConcurrently(named, CONNECTIONS, async ({ bytes }) => {
    const at = bytes.lastIndexOf("GET ");
    await exchange(Buffer.from(bytes, "latin1"));
    const connection = await RawConnection.open(fleet.port);
    connection.send(bytes.slice(0, at));
    // The second segment arrives while the server reads, waits, or has closed the connection.
    await connection.answer(false, 200).catch(() => undefined);
    connection.send(bytes.slice(at));
    connection.finish();
    await connection.untilClosed(15_000);
    connection.destroy();
  });
  // A click after all of them: once the stream has it, it has everything before it.
  await askOnce(fleet.port, rawRequest(`${LINK}-${run}-last`));
  const seen = await fleet.untilShipped(1, ({ destination }) =>
    destination.includes(`${run}-last`),
  );
  expect(seen).toHaveLength(1);
  const executed = (await fleet.shipped())
    .map(({ click }) => /-smuggle\d+-(\d+)-/.exec(click.destination)?.[1])
    .flatMap((number) => (number === undefined ? [] : (named[Number(number)]?.name ?? [])));
  expect([...new Set(executed)]).toEqual([]);
  await expectServing();
});

test("requests in one segment are answered in order, each once, and recorded once (P28)", async () => {
  const run = `pipe${SEED}`;
  const numbers = Array.from({ length: 500 }, (_, i) => i);
  const requests = numbers.map((i) =>
    i % 7 === 0
      ? rawRequest(`${LINK}-${run}-${i}`, { method: "POST", body: "a=b" })
      : rawRequest(`${LINK}-${run}-${i}`),
  );
  const answers = await askPipelined(fleet.port, requests);
  expect(answers.map(({ headers }) => headers.get("location")?.[0])).toEqual(
    numbers.map((i) => `${TARGET}-${run}-${i}`),
  );
  // The result is the same when the bytes are cut into segments anywhere.
  const connection = await RawConnection.open(fleet.port);
  const bytes = requests.join("");
  for (let from = 0, size = 1; from < bytes.length; from += size, size = (size * 7 + 3) % 1_500) {
    connection.send(bytes.slice(from, from + size));
    // A turn of the event loop between two writes makes two segments.
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const i of numbers) {
    const answer = await connection.answer();
    expect(answer?.headers.get("location")?.[0]).toBe(`${TARGET}-${run}-${i}`);
  }
  connection.destroy();
  const stored = await fleet.untilShipped(2 * numbers.length, ({ destination }) =>
    destination.includes(run),
  );
  const ids = [answers].flat().map(({ headers }) => headers.get("set-cookie")?.[0]);
  expect(new Set(ids).size).toBe(numbers.length);
  expect(stored).toHaveLength(2 * numbers.length);
});

test("a head or a body over its limit is refused, and its connection is closed (P28)", async () => {
  const pad = (length: number): string => "a".repeat(length);
  const cases: [string, string, number][] = [
    ["a head", rawRequest(LINK, { headers: [`X: ${pad(70_000)}`] }), 431],
    ["a target", rawRequest(`${LINK}${pad(70_000)}`), 431],
    [
      "too many headers",
      rawRequest(LINK, { headers: Array.from({ length: 500 }, () => "X: y") }),
      431,
    ],
    ["a report", rawRequest("/pb", { method: "POST", body: pad(65_537) }), 413],
    ["a server click", rawRequest("/clk", { method: "POST", body: pad(300_000) }), 413],
  ];
  for (const [what, request, status] of cases) {
    const connection = await RawConnection.open(fleet.port);
    connection.send(request);
    const answer = await connection.answer();
    expect([what, answer?.status]).toEqual([what, status]);
    expect([what, await connection.untilClosed(2_000)]).toEqual([what, true]);
  }
  // A client that keeps sending may see the close before the refusal.
  const endless = await RawConnection.open(fleet.port);
  endless.send(rawRequest("/pb", { method: "POST", body: pad(3 * MEBIBYTE) }));
  expect(await endless.untilClosed(2_000)).toBe(true);
  const whole = rawRequest("/pb", { method: "POST", body: `token=ws-token&x=${pad(65_000)}` });
  expect((await askOnce(fleet.port, whole))?.status).toBe(400);
  await expectServing();
});

test("an answer does not reveal which program gave it (P28)", async () => {
  const answer = await askOnce(fleet.port, rawRequest(LINK));
  const names = [...(answer?.headers.keys() ?? [])];
  expect(names).not.toContain("uwebsockets");
  expect(names).not.toContain("server");
});

test("a client that sends requests and reads no answers is cut off and takes no memory (P28)", async () => {
  const before = residentBytes(pid);
  const methods = ["GET", "HEAD", "POST", "PUT"];
  await forEachConcurrently(methods, methods.length, async (method) => {
    const connection = await RawConnection.open(fleet.port);
    connection.pause();
    const many = Buffer.from(rawRequest(LINK, { method }).repeat(2_000));
    // 400,000 answers are 180 MB: more than any kernel buffers for one connection.
    for (let sent = 0; sent < 400_000 && !connection.isClosed; sent += 2_000)
      await connection.sendAll(many);
    await until("the connection is cut off", () => connection.isClosed);
    connection.destroy();
  });
  expect(residentBytes(pid) - before).toBeLessThan(GROWTH_BYTES_MAX);
  await expectServing();
});

const anyBytes = fc.uint8Array({ minLength: 1, maxLength: 2_000 });
const VALID = [
  rawRequest(LINK),
  rawRequest(`/r/OFFER1/PARTNR?sub1=a&sub2=%41`, { headers: ["Cookie: trk_cid=0", "Via: x"] }),
  rawRequest(LINK, { method: "POST", body: "a=b&c=d" }),
  rawRequest("/pb?token=ws-token", {
    method: "POST",
    headers: ["Content-Type: application/json"],
    body: '{"click_id":"0"}',
  }),
  rawRequest("/clk", {
    method: "POST",
    headers: ["Content-Type: multipart/form-data; boundary=x"],
    body: '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n',
  }),
  post("Transfer-Encoding: chunked", "4\r\na=bc\r\n0\r\n\r\n"),
  rawRequest("/px?offer=OFFER1", { headers: ["Connection: close"] }),
  rawRequest("/i/OFFER1/PARTNR", { headers: ["X-Forwarded-For: 1.2.3.4, 5.6.7.8"] }),
  rawRequest("/c/KEY", { headers: ["Connection: Upgrade", "Upgrade: websocket"] }),
].map((text) => Buffer.from(text, "latin1"));

type Change = { at: number; kind: "flip" | "cut" | "insert" | "double"; bytes: Uint8Array };
const anyChange: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(4_000),
  kind: fc.constantFrom("flip", "cut", "insert", "double"),
  bytes: fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 8 }),
    fc
      .constantFrom("\r\n", "\r\n\r\n", "\n", "\0", ":", " ", "%", "HTTP/1.1", "chunked", "-1")
      .map((text) => Buffer.from(text)),
  ),
});

function changed(valid: Uint8Array, { at, kind, bytes }: Change): Uint8Array {
  const offset = at % (valid.length + 1);
  const [head, tail] = [valid.subarray(0, offset), valid.subarray(offset)];
  switch (kind) {
    case "flip":
      return Buffer.concat([head, bytes, tail.subarray(bytes.length)]);
    case "cut":
      return Buffer.from(head);
    case "insert":
      return Buffer.concat([head, bytes, tail]);
    case "double":
      return Buffer.concat([valid, tail]);
  }
}

const anyMutation = fc
  .tuple(
    fc.array(fc.constantFrom(...VALID), { minLength: 1, maxLength: 3 }),
    fc.array(anyChange, { minLength: 1, maxLength: 4 }),
  )
  .map(([requests, changes]) =>
    changes.reduce<Uint8Array>((bytes, change) => changed(bytes, change), Buffer.concat(requests)),
  )
  // Without HEAD requests: only their sender knows where such an answer ends.
  .filter((bytes) => !/HEAD/.test(Buffer.from(bytes).toString("latin1")));

test(`${FUZZED} damaged requests get well-formed answers or none, from one process in bounded memory (P28)`, async (context) => {
  const before = residentBytes(pid);
  const malformed: string[] = [];
  const statuses = new Map<number, number>();
  const batch = 2_000;
  for (let from = 0; from < FUZZED; from += batch) {
    const arbitrary = fc.oneof(
      { arbitrary: anyMutation, weight: 9 },
      { arbitrary: anyBytes, weight: 1 },
    );
    const all = fc.sample(arbitrary, { numRuns: batch, seed: SEED + from });
    await forEachConcurrently(all, CONNECTIONS, async (bytes) => {
      try {
        for (const status of await exchange(bytes))
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
      } catch (error) {
        if (!(error instanceof MalformedAnswerError)) throw error;
        malformed.push(
          `${error.message} to ${JSON.stringify(Buffer.from(bytes).toString("latin1"))}`,
        );
      }
    });
  }
  reportCases(context, { cases: FUZZED, violations: malformed.length });
  expect(malformed.slice(0, 10)).toEqual([]);
  expect(residentBytes(pid) - before).toBeLessThan(GROWTH_BYTES_MAX);
  // If nearly every damaged request were refused, the test would prove little.
  expect(statuses.get(302) ?? 0).toBeGreaterThan(FUZZED / 50);
  await expectServing();
});
