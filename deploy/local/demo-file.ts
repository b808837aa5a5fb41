import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { parseJson } from "./kept-files.ts";

/** The output of `tracker demo --json`, and the content of `DATA_DIR/demo.json`. */
export const Demo = z.looseObject({
  base_url: z.string(),
  mcp_url: z.string(),
  tracking_url: z.string(),
  workspace_id: z.int(),
  postback_token: z.string(),
  advertiser_postback_token: z.string(),
  keys: z
    .object({
      admin: z.string(),
      analyst: z.string(),
      partner: z.string(),
      advertiser: z.string(),
    })
    .catchall(z.string()),
  links: z
    .object({ affiliate: z.string(), transparent: z.string(), smart: z.string() })
    .catchall(z.string()),
});
export type Demo = z.infer<typeof Demo>;

/** `undefined` if the file does not exist or does not fit the schema, for example because it was edited. */
export function readDemo(file: string): Demo | undefined {
  if (!existsSync(file)) return undefined;
  return Demo.safeParse(parseJson(readFileSync(file, "utf8"))).data;
}

/** Only the owner may read the file, because it contains keys. */
export function writeDemo(file: string, demo: Demo): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

/** The demo with the current addresses, because the ports may have changed since the start that created it. */
export function demoAt(demo: Demo, at: { trackingUrl: string; apiUrl: string }): Demo {
  const moved = (url: string, origin: string): string =>
    url.replace(/^https?:\/\/[^/?#]+/, () => origin);
  const { affiliate, transparent, smart, ...otherLinks } = demo.links;
  return {
    ...demo,
    base_url: moved(demo.base_url, at.apiUrl),
    mcp_url: moved(demo.mcp_url, at.apiUrl),
    tracking_url: moved(demo.tracking_url, at.trackingUrl),
    links: {
      ...otherLinks,
      affiliate: moved(affiliate, at.trackingUrl),
      transparent: moved(transparent, at.trackingUrl),
      smart: moved(smart, at.trackingUrl),
    },
  };
}

export type WelcomeFacts = { trackingUrl: string; apiUrl: string; demoFile: string };

/**
 * The text at the end of a start: addresses, and commands to paste for a click, its conversion and the report. It contains no key and no
 * token, because it may end in a log.
 */
export function welcomeText(
  { trackingUrl, apiUrl, demoFile }: WelcomeFacts,
  demo: Demo | undefined,
): string {
  const addresses = [
    `  Tracking    ${trackingUrl}`,
    `  REST API    ${apiUrl}/api/v1`,
    `  Reference   ${apiUrl}/api/v1/docs`,
  ];
  if (demo === undefined) return `${addresses.join("\n")}\n`;
  return [
    ...addresses,
    `  MCP         ${demo.mcp_url}`,
    `  Demo keys   ${demoFile}`,
    `  A link      ${demo.links.affiliate}`,
    "",
    "Try it, in another terminal:",
    "",
    ...firstStepsText(demoFile),
    "",
  ].join("\n");
}

/** The first click, its conversion and the report, as the README shows them too. */
export function firstStepsText(demoFile: string): string[] {
  const variables = {
    TRACKING: "tracking_url",
    API: "base_url",
    POSTBACK_TOKEN: "postback_token",
    ADMIN_KEY: "keys.admin",
    ANALYST_KEY: "keys.analyst",
  };
  const values = Object.entries(variables).map(([name, field]) => `${name}=\${d.${field}}`);
  return [
    "# the addresses, keys and tokens of your demo workspace as variables",
    `eval "$(node -p 'const d = JSON.parse(fs.readFileSync("${demoFile}", "utf8")); \`${values.join(" ")}\`')"`,
    "",
    "# a click: 302 to the offer; its id is in the cookie and in the destination",
    `CLICK_ID=$(curl -si "$TRACKING/r/DEMOSHOP/DEMOANNA?sub1=hello" | grep -oE '[0-9a-f]{32}' | head -1); echo $CLICK_ID`,
    "",
    "# the advertiser reports a conversion of that click",
    'curl -s "$TRACKING/pb?token=$POSTBACK_TOKEN&click_id=$CLICK_ID&amount=49.90&txid=order-$(date +%s)"',
    "",
    "# the report of the last 30 days",
    'curl -s -H "Authorization: Bearer $ADMIN_KEY" "$API/reports?preset=last30&group_by=offer&metrics=clicks,conversions,payout"',
  ];
}
