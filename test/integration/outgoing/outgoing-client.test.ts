import { beforeEach, describe, expect, test } from "vitest";
import { OutgoingClient } from "../../../schemas/outgoing/outgoing-client.ts";
import { ForbiddenDestinationError } from "../../../schemas/outgoing/outgoing-failure.ts";
import { ownServers } from "../../../schemas/outgoing/own-servers.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { startReceiver } from "./receiver.ts";

const receiver = await forThisFile(startReceiver());
const loose = await forThisFile(new OutgoingClient({ allowLoopback: true }));
beforeEach(() => receiver.answer((response) => void response.end()));

describe("destinations that are not public (G127)", () => {
  test("with allowLoopback the same server answers, by address and by name", async () => {
    for (const host of ["127.0.0.1", "localhost"]) {
      const url = new URL(`http://${host}:${receiver.port}/there?a=1`);
      const answer = await loose.send({ url, method: "GET" });
      expect(answer.status).toBe(200);
      expect(receiver.received.at(-1)).toMatchObject({ method: "GET", target: "/there?a=1" });
    }
  });

  test.each(["10.0.0.1", "192.168.1.1", "169.254.169.254", "[fe80::1]", "0.0.0.0"])(
    "with allowLoopback only loopback is reached, not %s",
    async (host) => {
      const sent = loose.send({ url: new URL(`http://${host}:${receiver.port}/`), method: "GET" });
      await expect(sent).rejects.toThrow(ForbiddenDestinationError);
    },
  );

  test("a URL that is not http or https is refused", async () => {
    const url = new URL("ftp://example.com/");
    await expect(loose.send({ url, method: "GET" })).rejects.toThrow(ForbiddenDestinationError);
  });
});

describe("servers of this installation, with allowLoopback (G127)", () => {
  const guarded = (ports: readonly number[], publicPorts: readonly number[]): OutgoingClient =>
    new OutgoingClient({ allowLoopback: true, own: { servers: [], ports, publicPorts } });

  test.each(["ports", "publicPorts"] as const)(
    "are not reached by any name of this machine, nor by a redirect (%s)",
    async (kind) => {
      const own = await startReceiver();
      const client = guarded(
        kind === "ports" ? [own.port] : [],
        kind === "ports" ? [] : [own.port],
      );
      for (const host of ["127.0.0.1", "127.9.9.9", "localhost", "[::1]", "[::ffff:127.0.0.1]"]) {
        const url = new URL(`http://${host}:${own.port}/`);
        expect(await client.attempt({ url, method: "GET" }), host).toEqual({
          kind: "failed",
          error: "destination address not allowed",
          isPermanent: true,
        });
      }
      receiver.answer((response) =>
        response.writeHead(307, { location: `http://127.0.0.1:${own.port}/` }).end(),
      );
      const url = new URL(`http://127.0.0.1:${receiver.port}/`);
      const attempt = { url, method: "POST", body: "x", redirectsMax: 1 } as const;
      expect(await client.attempt(attempt)).toMatchObject({ kind: "failed", isPermanent: true });
      expect(own.received).toEqual([]);
      await client.close();
      await own.close();
    },
  );

  test("a server whose name cannot be resolved refuses its port for now, not for good", async () => {
    const own = ownServers([`http://no-such-name.invalid:${receiver.port}`], {
      ports: [],
      publicPorts: [],
    });
    const client = new OutgoingClient({ allowLoopback: true, own, nameServers: ["127.0.0.1:9"] });
    const url = new URL(`http://127.0.0.1:${receiver.port}/`);
    expect(await client.attempt({ url, method: "GET" })).toEqual({
      kind: "failed",
      error: "DNS error",
      isPermanent: false,
    });
    await client.close();
  });
});

describe("answers (G130)", () => {
  const url = (): URL => new URL(`http://127.0.0.1:${receiver.port}/`);

  test("a redirect is an answer and is not followed", async () => {
    const before = receiver.received.length;
    receiver.answer((response) => response.writeHead(302, { location: "/elsewhere" }).end());
    expect(await loose.send({ url: url(), method: "GET" })).toMatchObject({
      status: 302,
      location: "/elsewhere",
    });
    expect(receiver.received.length).toBe(before + 1);
  });

  test("the first 2 KiB of a long body are read, with Retry-After", async () => {
    receiver.answer((response) => {
      response.writeHead(429, { "retry-after": "7" }).end("x".repeat(1_000_000));
    });
    const answer = await loose.send({ url: url(), method: "POST", body: "y" });
    expect(answer).toMatchObject({ status: 429, retryAfter: "7", body: "x".repeat(2_048) });
  });

  test("an answer that does not end is given up in time", async () => {
    const silent = [
      () => undefined,
      (response: { writeHead(status: number): { write(text: string): boolean } }) =>
        void response.writeHead(200).write("half"),
    ];
    for (const how of silent) {
      receiver.answer(how);
      const startedAtMs = Date.now();
      const sent = loose.send({ url: url(), method: "GET", timeoutMs: 300 });
      await expect(sent).rejects.toThrow(/timeout|aborted/i);
      expect(Date.now() - startedAtMs).toBeLessThan(2_000);
    }
  });
});
