import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { nkeys } from "@nats-io/transport-node";
import { expect, test } from "vitest";
import type { NatsAccess } from "../../../schemas/nats/access.ts";
import { connectNats, type Nats } from "../../../schemas/nats/connect.ts";
import { freePort } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";
import { Authority } from "./certificates.ts";
import { NatsNode } from "./nats-node.ts";

const JETSTREAM = "jetstream { store_dir: $NATS_STORE }\n";
const LISTEN = "listen: $NATS_LISTEN\n";

/** Connects, and sends a request to JetStream. @throws the sentence that a process would log. */
async function reach(url: string, access: NatsAccess = {}): Promise<string> {
  const nats = await connectNats({ url, access, name: "test", prefix: "" });
  try {
    await nats.manager();
    return "reached";
  } finally {
    await nats.connection.close();
  }
}

async function started(config: string): Promise<NatsNode> {
  const node = await NatsNode.open({ config });
  await node.start();
  return node;
}

test("a user logs in by the URLs or by settings, and a wrong password is one sentence without it", async () => {
  await using node = await NatsNode.open();
  await node.start();
  const bare = `nats://${node.address}`;
  expect(await reach(node.urlOf("operator"))).toBe("reached");
  const access = { user: "operator", password: () => "operator-hush" };
  expect(await reach(bare, access)).toBe("reached");
  const sentence = `NATS at ${node.address} refuses the login: check user and password`;
  await expect(reach(`nats://operator:wrong-hush@${node.address}`)).rejects.toThrow(sentence);
  const wrong = { user: "operator", password: () => "wrong-hush" };
  await expect(reach(bare, wrong)).rejects.toThrow(sentence);
  await expect(reach(bare, wrong)).rejects.not.toThrow(/hush/);
});

test("of several servers a dead one is passed over; when none answers, the sentence names all hosts", async () => {
  await using node = await NatsNode.open();
  await node.start();
  const dead = `operator:operator-hush@127.0.0.1:${await freePort()}`;
  for (const urls of [
    `nats://${dead},${node.urlOf("operator")}`,
    `${node.urlOf("operator")},nats://${dead}`,
  ]) {
    expect(await reach(urls)).toBe("reached");
  }
  const gone = `nats://${dead},nats://operator:operator-hush@127.0.0.1:1`;
  await expect(reach(gone)).rejects.toThrow(
    /^NATS at 127\.0\.0\.1:\d+, 127\.0\.0\.1:1 does not answer: ECONNREFUSED\.$/,
  );
});

test("a key logs in by NATS_NKEY_FILE, and a file without one is named", async () => {
  const pair = nkeys.createUser();
  await using node = await started(
    `${LISTEN}${JETSTREAM}authorization { users: [{ nkey: ${pair.getPublicKey()} }] }\n`,
  );
  const nkeyFile = join(node.folder, "user.nk");
  await writeFile(nkeyFile, `# a key\n${Buffer.from(pair.getSeed()).toString()}\n`);
  expect(await reach(`nats://${node.address}`, { nkeyFile })).toBe("reached");
  await writeFile(nkeyFile, "nothing\n");
  await expect(reach(`nats://${node.address}`, { nkeyFile })).rejects.toThrow("NATS_NKEY_FILE");
});

test("credentials log in by NATS_CREDS_FILE", async () => {
  const [operator, account, system, user] = [
    nkeys.createOperator(),
    nkeys.createAccount(),
    nkeys.createAccount(),
    nkeys.createUser(),
  ];
  const accountJwt = (key: typeof account, name: string, storage = {}): string => {
    const limits = { subs: -1, conn: -1, data: -1, payload: -1, ...storage };
    return jwtOf(operator, key.getPublicKey(), name, { type: "account", limits, version: 2 });
  };
  const unlimited = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  await using node = await started(`${LISTEN}${JETSTREAM}
operator: ${jwtOf(operator, operator.getPublicKey(), "operator", { type: "operator", version: 2 })}
resolver: MEMORY
system_account: ${system.getPublicKey()}
resolver_preload: {
  ${account.getPublicKey()}: ${accountJwt(account, "TRACKER", unlimited)}
  ${system.getPublicKey()}: ${accountJwt(system, "SYS")}
}
`);
  const jwt = jwtOf(account, user.getPublicKey(), "user", {
    type: "user",
    version: 2,
    subs: -1,
    data: -1,
    payload: -1,
  });
  const seed = Buffer.from(user.getSeed()).toString();
  const credsFile = join(node.folder, "user.creds");
  await writeFile(
    credsFile,
    `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
  );
  expect(await reach(`nats://${node.address}`, { credsFile })).toBe("reached");
  await expect(reach(`nats://${node.address}`)).rejects.toThrow("refuses the login");
});

test("tls:// needs the authority in NATS_CA_FILE, the right name, and a certificate if asked for one", async () => {
  await using authority = await Authority.open();
  const server = await authority.issue("server", "IP:127.0.0.1");
  const stranger = await authority.issue("stranger", "DNS:elsewhere.example");
  const client = await authority.issue("client", "DNS:client");
  const tls = (cert: string, key: string, verify: boolean): string =>
    `${LISTEN}${JETSTREAM}tls { cert_file: "${cert}", key_file: "${key}", ca_file: "${authority.ca}", verify: ${verify} }\n`;
  await using node = await started(tls(server.cert, server.key, false));
  const url = `tls://${node.address}`;
  expect(await reach(url, { caFile: authority.ca })).toBe("reached");
  await expect(reach(url)).rejects.toThrow(
    `NATS at ${node.address}: its certificate is signed by an unknown authority. Name the certificate of that authority with NATS_CA_FILE.`,
  );
  await using named = await started(tls(stranger.cert, stranger.key, false));
  await expect(reach(`tls://${named.address}`, { caFile: authority.ca })).rejects.toThrow(
    "its certificate is not accepted",
  );
  await using strict = await started(tls(server.cert, server.key, true));
  const shown = { caFile: authority.ca, certFile: client.cert, keyFile: client.key };
  expect(await reach(`tls://${strict.address}`, shown)).toBe("reached");
  await expect(reach(`tls://${strict.address}`, { caFile: authority.ca })).rejects.toThrow(
    /refuses the certificate of this process|does not answer/,
  );
  await using plain = await NatsNode.open();
  await plain.start();
  await expect(reach(`tls://${plain.address}`, { caFile: authority.ca })).rejects.toThrow(
    `NATS at ${plain.address} has no TLS`,
  );
});

test("a server without JetStream is one sentence", async () => {
  await using node = await started(LISTEN);
  await expect(reach(`nats://${node.address}`)).rejects.toThrow(
    `NATS at ${node.address} runs without JetStream: add`,
  );
});

test("a connection outlives a change of the password, whichever side changes first", async () => {
  await using node = await started(
    `${LISTEN}${JETSTREAM}authorization { user: me, password: "first-hush" }\n`,
  );
  let password = "first-hush";
  const access = { user: "me", password: () => password };
  const url = `nats://${node.address}`;
  const nats = await connectNats({ url, access, name: "test", prefix: "" });
  try {
    // The server changes first: the process is refused until its file has changed too.
    await node.reconfigure("first-hush", "second-hush");
    await until("the old password is refused", () => /authentication error/i.test(node.log), {
      timeoutMs: 90_000,
    });
    password = "second-hush";
    await untilConnected(nats);
    // The file changes first: it is used once the server has ended the connection.
    password = "third-hush";
    await node.reconfigure("second-hush", "third-hush");
    await untilConnected(nats);
    expect(nats.connection.isClosed()).toBe(false);
  } finally {
    await nats.connection.close();
  }
});

async function untilConnected(nats: Nats): Promise<void> {
  const isConnected = async (): Promise<boolean> => (await nats.manager()) !== undefined;
  await until("it is connected", isConnected);
}

/** A claim that a key signs, as `nsc` makes it. */
function jwtOf(
  issuer: ReturnType<typeof nkeys.createUser>,
  subject: string,
  name: string,
  nats: object,
): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const header = part({ typ: "JWT", alg: "ed25519-nkey" });
  const body = part({
    jti: name,
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    sub: subject,
    name,
    nats,
  });
  const signature = issuer.sign(Buffer.from(`${header}.${body}`));
  return `${header}.${body}.${Buffer.from(signature).toString("base64url")}`;
}
