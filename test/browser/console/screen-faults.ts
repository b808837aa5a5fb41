import type { Page } from "playwright-core";
import { z } from "zod";
import { axeFaults } from "./axe-faults.ts";
import { atRest, settled } from "./console-browser.ts";

/** Headings in view whose last letters lie under something else. What is behind a drawer is no longer there for anybody. */
const COVERED_HEADINGS = `[...document.querySelectorAll("h1, h2")].filter((heading) => {
  if (heading.closest("[inert], [aria-hidden=true]") !== null) return false;
  const letters = document.createRange();
  letters.selectNodeContents(heading);
  const { right, top, bottom } = letters.getBoundingClientRect();
  const shown = document.elementFromPoint(right - 2, (top + bottom) / 2);
  return shown !== null && !heading.contains(shown);
}).map((heading) => heading.textContent)`;

/** What is wrong with a screen: what axe finds, what it could not load, and for each width what is too wide or covered. */
export async function screenFaults(
  page: Page,
  address: string,
  widths: readonly number[],
): Promise<unknown[]> {
  await page.goto(address);
  await settled(page);
  const headings = await page.locator("h1").count();
  const faults: unknown[] = [
    ...(headings === 1 ? [] : [`${headings} headings of the first level`]),
    ...(await page.locator(".notice.bad").allTextContents()),
    ...(await axeFaults(page)),
  ];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await atRest(page);
    const wide = Number(await page.evaluate("document.documentElement.scrollWidth"));
    if (wide > width) faults.push(`${wide} pixels wide at ${width}`);
    const covered = z.array(z.string()).parse(await page.evaluate(COVERED_HEADINGS));
    faults.push(...covered.map((heading) => `"${heading}" is covered at ${width}`));
  }
  return faults.map((fault) => [address, fault]);
}
