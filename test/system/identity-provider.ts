import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import { Provider } from "oidc-provider";
import { z } from "zod";

/** Somebody whom the provider knows. The subject is what stands for the person. */
export type Account = {
  readonly email: string;
  readonly email_verified: boolean | string;
  readonly name: string;
};

const Address = z.looseObject({ port: z.int() });
const STEPS_MAX = 20;

/** A certified OpenID provider on this machine, whose login page takes any password. */
export class IdentityProvider {
  readonly issuer: string;
  readonly clientId = "tracker";
  readonly clientSecret = randomBytes(32).toString("base64url");
  /** Accounts by subject. */
  readonly accounts = new Map<string, Account>();
  readonly #server: Server;

  private constructor(server: Server, issuer: string) {
    this.#server = server;
    this.issuer = issuer;
  }

  /** `returnUrl`: the page of the console to which it sends browsers back. */
  static async open(returnUrl: string): Promise<IdentityProvider> {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const { port } = Address.parse(server.address());
    const opened = new IdentityProvider(server, `http://127.0.0.1:${port}`);
    const { accounts } = opened;
    const provider = new Provider(opened.issuer, {
      clients: [
        {
          client_id: opened.clientId,
          client_secret: opened.clientSecret,
          redirect_uris: [returnUrl],
        },
      ],
      cookies: { keys: [randomBytes(32).toString("hex")] },
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
      findAccount: (_context, subject) => {
        const account = accounts.get(subject);
        if (account === undefined) return undefined;
        return { accountId: subject, claims: () => ({ sub: subject, ...account }) };
      },
      // Nobody is asked what the console may know.
      loadExistingGrant: async ({ oidc }) => {
        const grant = new provider.Grant({
          clientId: oidc.client?.clientId ?? "",
          accountId: oidc.session?.accountId ?? "",
        });
        grant.addOIDCScope("openid email profile");
        await grant.save();
        return grant;
      },
    });
    const callback = provider.callback();
    server.on("request", (request, response) => void callback(request, response));
    return opened;
  }

  /** What somebody does who signs in at the provider. Returns what it puts behind `?` of the page that it sends the browser to. */
  async signIn(url: string, subject: string): Promise<string> {
    const cookies = new Map<string, string>();
    let next: Request = new Request(url);
    for (let steps = 0; steps < STEPS_MAX; steps += 1) {
      next.headers.set(
        "cookie",
        [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
      );
      const answer = await fetch(next, { redirect: "manual" });
      for (const set of answer.headers.getSetCookie()) {
        const [name = "", value = ""] = (set.split(";", 1)[0] ?? "").split("=", 2);
        cookies.set(name, value);
      }
      const location = answer.headers.get("location");
      if (location === null) {
        const action = /action="([^"]+)"/.exec(await answer.text())?.[1];
        assert(action !== undefined, `${next.url} has no form: ${answer.status}`);
        const body = new URLSearchParams({ prompt: "login", login: subject, password: "any" });
        next = new Request(new URL(action, next.url), { method: "POST", body });
        continue;
      }
      const to = new URL(location, next.url);
      if (to.origin !== this.issuer) return to.search.slice(1);
      next = new Request(to);
    }
    throw new Error("the provider sends nobody back");
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}
