import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { z } from "zod";
import { projectFile } from "../../../schemas/host/project-root.ts";

const AXE = readFileSync(projectFile("node_modules", "axe-core", "axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
const AxeResult = z.object({
  violations: z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) })),
});

/** What axe finds on a page that is not scrolled: the rule, and the elements that break it. */
export async function axeFaults(page: Page): Promise<string[][]> {
  // A control that the header covers in part counts as too small for a finger.
  await page.evaluate('scrollTo({ top: 0, behavior: "instant" })');
  // Evaluated and not added as a script, which the policy refuses.
  await page.evaluate(AXE);
  const run = `axe.run({ runOnly: { type: "tag", values: ${JSON.stringify(RULES)} } })`;
  const { violations } = AxeResult.parse(await page.evaluate(run));
  return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
}
