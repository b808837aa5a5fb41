import type { Page } from "playwright-core";
import { onTestFailed } from "vitest";
import { getCurrentTest } from "vitest/suite";

const REFUSALS_MAX = 10;
const LINES_MAX = 80;
const TEXT_MS = 2_000;

/** A failed test prints what its page shows, where it is, and what was refused to it last. Pages of hooks tell nothing. */
export function tellOnFailure(page: Page, name: string): void {
  if (getCurrentTest() === undefined) return;
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() < 400) return;
    refused.push(`${response.status()} ${response.request().method()} ${response.url()}`);
    if (refused.length > REFUSALS_MAX) refused.shift();
  });
  onTestFailed(async () => {
    const text = await page
      .locator("body")
      .innerText({ timeout: TEXT_MS })
      .catch((error: unknown) => String(error));
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    const told = [...lines.slice(-LINES_MAX), page.url(), ...refused];
    process.stderr.write(`\n${name} shows:\n${told.map((line) => `  ${line}`).join("\n")}\n`);
  });
}
