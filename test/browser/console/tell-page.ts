import type { Page } from "playwright-core";
import { showOnFailure } from "../../system/printing-programs.ts";

const REFUSALS_MAX = 10;
const TEXT_MS = 2_000;

/** A failed test prints where the page is, what it shows, and what was refused to it last. */
export function tellOnFailure(page: Page, name: string): void {
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() < 400) return;
    refused.push(`${response.status()} ${response.request().method()} ${response.url()}`);
    if (refused.length > REFUSALS_MAX) refused.shift();
  });
  const output = async (): Promise<string> => {
    if (page.isClosed()) return "closed";
    const text = await page
      .locator("body")
      .innerText({ timeout: TEXT_MS })
      .catch((error: unknown) => String(error));
    return [text, page.url(), ...refused].join("\n");
  };
  showOnFailure({ name, output });
}
