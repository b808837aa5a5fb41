import { beforeEach, describe, expect, test } from "vitest";
import { OutgoingClient } from "../../../schemas/outgoing/outgoing-client.ts";
import { ForbiddenDestinationError } from "../../../schemas/outgoing/outgoing-failure.ts";
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
