import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { DemoLinks } from "../../../deploy/local/console-file.ts";
import type { System } from "../../system/start-system.ts";

/** The password of every person in these tests. */
export const PASSWORD = "seven-lamps-on-a-quay";

/** Name and value of the session's cookie, by role. */
export const Cookies = z.record(z.string(), z.object({ name: z.string(), value: z.string() }));
export type Cookies = z.infer<typeof Cookies>;

/** Uses the demo's link of each role, as a browser would. Each link works once. */
export async function signInRoles({ dataDir, client }: System): Promise<Cookies> {
  const text = await readFile(join(dataDir, "console.json"), "utf8");
  const { sign_in_links: links } = DemoLinks.parse(JSON.parse(text));
  const { origin } = new URL(client.demo.base_url);
  const cookies: Cookies = {};
  for (const [role, link] of Object.entries(links)) {
    const answer = await fetch(`${origin}/api/v1/one-time-links/redeem`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "sec-fetch-site": "same-origin",
        origin,
        "x-tracker-membership": "0",
      },
      body: JSON.stringify({
        token: new URL(link).hash.slice(1),
        name: `Demo ${role}`,
        password: PASSWORD,
      }),
    });
    const [cookie = ""] = answer.headers.getSetCookie();
    const [, name = "", value = ""] = /^([^=]+)=([^;]+)/.exec(cookie) ?? [];
    if (name === "") throw new Error(`${role}: ${answer.status} ${await answer.text()}`);
    cookies[role] = { name, value };
  }
  return cookies;
}
