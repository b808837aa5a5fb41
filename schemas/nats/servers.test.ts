import { expect, test } from "vitest";
import { connectionOptions, natsHosts, serverCount } from "./servers.ts";

const anyFunction: unknown = expect.any(Function);
const ANY_CHECK = { checkServerIdentity: anyFunction };

test.each([
  ["nats://127.0.0.1:4222", ["nats://127.0.0.1:4222"], undefined, "127.0.0.1:4222"],
  ["tls://a:4223, tls://b", ["tls://a:4223", "tls://b"], undefined, "a:4223, b:4222"],
  ["nats://me:p%40ss@[::1]:1", ["nats://[::1]:1"], { user: "me", pass: "p@ss" }, "[::1]:1"],
  [
    "nats://me:x@a:1,nats://me:x@b:2",
    ["nats://a:1", "nats://b:2"],
    { user: "me", pass: "x" },
    "a:1, b:2",
  ],
])(
  "%s is split into servers and a login, and shown without it (#18)",
  (url, servers, login, hosts) => {
    const { authenticator, ...options } = connectionOptions({ url });
    expect(options).toEqual({ servers, ...(url.startsWith("tls") ? { tls: ANY_CHECK } : {}) });
    expect(typeof authenticator === "function" ? authenticator("") : undefined).toEqual(login);
    expect(natsHosts(url)).toBe(hosts);
    expect(serverCount(url)).toBe(servers.length);
  },
);

test("a password that changes in its file is used for the next connection", () => {
  let password = "first";
  const access = { user: "me", password: () => password };
  const { authenticator } = connectionOptions({ url: "nats://a", access });
  const passwordNow = () => (typeof authenticator === "function" ? authenticator("") : undefined);
  expect(passwordNow()).toEqual({ user: "me", pass: "first" });
  password = "second";
  expect(passwordNow()).toEqual({ user: "me", pass: "second" });
});

test("a login that cannot be read any more stays as it was; one that never could is an error", () => {
  const texts = ["first"];
  const access = {
    user: "me",
    password: () => {
      const text = texts.pop();
      if (text === undefined) throw new Error("no such file");
      return text;
    },
  };
  const { authenticator } = connectionOptions({ url: "nats://a", access });
  if (typeof authenticator !== "function") throw new Error("there is no login");
  expect(authenticator("")).toEqual({ user: "me", pass: "first" });
  expect(authenticator("")).toEqual({ user: "me", pass: "first" });
  const unread = connectionOptions({ url: "nats://a", access }).authenticator;
  expect(() => typeof unread === "function" && unread("")).toThrow("no such file");
});

test("certificates alone ask for TLS", () => {
  const access = { caFile: "/ca.pem" };
  expect(connectionOptions({ url: "nats://a", access })).toEqual({
    servers: ["nats://a"],
    tls: { ...ANY_CHECK, caFile: "/ca.pem" },
  });
});
