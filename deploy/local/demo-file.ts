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

/** The demo with the current addresses, because the ports may differ from those of the start that created it. */
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

export type WelcomeFacts = {
  trackingUrl: string;
  apiUrl: string;
  demoFile: string;
  /** False: the printed commands read keys and tokens from the file. */
  withKeys: boolean;
};

/** The text at the end of a start: addresses, and commands to paste for a click, its conversion and the report. */
export function welcomeText(
  { trackingUrl, apiUrl, demoFile, withKeys }: WelcomeFacts,
  demo: Demo | undefined,
): string {
  const addresses = [
    `  Tracking    ${trackingUrl}`,
    `  REST API    ${apiUrl}/api/v1`,
    `  Reference   ${apiUrl}/api/v1/docs`,
  ];
  if (demo === undefined) return `${addresses.join("\n")}\n`;
  const link = demo.links.affiliate;
  const { token, key, howToRead } = withKeys
    ? { token: demo.postback_token, key: demo.keys.admin, howToRead: [] }
    : { token: "$POSTBACK_TOKEN", key: "$ADMIN_KEY", howToRead: readingOf(demoFile) };
  return [
    ...addresses,
    `  MCP         ${demo.mcp_url}`,
    `  Demo keys   ${demoFile}`,
    `  A link      ${link}`,
    "",
    ...howToRead,
    "Try it, in another terminal. A click, whose id is kept for the next step:",
    "",
    `  CLICK_ID=$(curl -si '${link}' \\`,
    "    | grep -oE '[0-9a-f]{32}' | head -1); echo $CLICK_ID",
    "",
    "Its conversion, as the advertiser reports it:",
    "",
    `  curl "${trackingUrl}/pb?click_id=$CLICK_ID\\`,
    `&amount=49.90&txid=order-$RANDOM&token=${token}"`,
    "",
    "The report:",
    "",
    `  curl -H "Authorization: Bearer ${key}" \\`,
    `    '${apiUrl}/api/v1/reports?preset=today&group_by=offer&metrics=clicks,conversions,payout'`,
    "",
  ].join("\n");
}

function readingOf(demoFile: string): string[] {
  const read = (field: string): string =>
    `$(node -p 'JSON.parse(fs.readFileSync("${demoFile}", "utf8")).${field}')`;
  return [
    "The key and the token of the commands below are in that file and not printed here:",
    "",
    `  POSTBACK_TOKEN=${read("postback_token")}`,
    `  ADMIN_KEY=${read("keys.admin")}`,
    "",
  ];
}
