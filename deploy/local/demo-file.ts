import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { z } from "zod";

/** What `tracker demo --json` prints, and what `DATA_DIR/demo.json` holds for people and scripts. */
export const Demo = z.looseObject({
  base_url: z.string(),
  mcp_url: z.string(),
  tracking_url: z.string(),
  workspace_id: z.union([z.string(), z.number()]),
  postback_token: z.string(),
  advertiser_postback_token: z.string(),
  keys: z.looseObject({
    admin: z.string(),
    analyst: z.string(),
    partner: z.string(),
    advertiser: z.string(),
  }),
  links: z.looseObject({ affiliate: z.string(), transparent: z.string(), smart: z.string() }),
});
export type Demo = z.infer<typeof Demo>;

/** `undefined` when there is none, or a person has made something else of it. */
export function readDemo(file: string): Demo | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return Demo.safeParse(JSON.parse(readFileSync(file, "utf8"))).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Readable by the owner only: it holds keys. */
export function writeDemo(file: string, demo: Demo): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

/** The last thing a start prints: where everything is, and what to paste for a click, its conversion and the report. */
export function welcomeText(
  { trackingUrl, apiUrl, demoFile }: { trackingUrl: string; apiUrl: string; demoFile: string },
  demo: Demo | undefined,
): string {
  const addresses = [
    `  Tracking    ${trackingUrl}`,
    `  REST API    ${apiUrl}/api/v1`,
    `  Reference   ${apiUrl}/api/v1/docs`,
  ];
  if (demo === undefined) return `${addresses.join("\n")}\n`;
  // A link made under other settings is shown under the present address.
  const link = demo.links.affiliate.replace(/^https?:\/\/[^/]+/, trackingUrl);
  return [
    ...addresses,
    `  MCP         ${apiUrl}${new URL(demo.mcp_url).pathname}`,
    `  Demo keys   ${demoFile}`,
    `  A link      ${link}`,
    "",
    "Try it, in another terminal. A click, whose id is kept for the next step:",
    "",
    `  CLICK_ID=$(curl -si '${link}' \\`,
    "    | grep -oE '[0-9a-f]{32}' | head -1); echo $CLICK_ID",
    "",
    "Its conversion, as the advertiser reports it:",
    "",
    `  curl "${trackingUrl}/pb?click_id=$CLICK_ID\\`,
    `&amount=49.90&txid=order-1&token=${demo.postback_token}"`,
    "",
    "The report:",
    "",
    `  curl -H 'Authorization: Bearer ${demo.keys.admin}' \\`,
    `    '${apiUrl}/api/v1/reports?preset=today&group_by=offer&metrics=clicks,conversions,payout'`,
    "",
  ].join("\n");
}
