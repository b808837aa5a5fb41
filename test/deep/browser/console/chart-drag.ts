import assert from "node:assert";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** Days of October between 0.3 and 0.6 of the chart's width, with its axis. */
export const BETWEEN = [expect.toSatisfy(isIn(6, 12)), expect.toSatisfy(isIn(15, 24))];

function isIn(first: number, last: number): (day: number) => boolean {
  return (day) => day >= first && day <= last;
}

type Place = { readonly x: number; readonly y: number };

/** The chart of days of a page that is settled, and places in it by their share of its width. */
export async function dayChart(
  page: Page,
): Promise<{ chart: Locator; at: (share: number) => Place; box: Place }> {
  const chart = page.getByRole("img", { name: /points, arrow keys read them/ }).first();
  const box = await chart.boundingBox();
  assert(box !== null, "the chart is shown");
  return { chart, box, at: (share) => ({ x: box.width * share, y: box.height / 2 }) };
}

/** A move and the release in one turn, as a slow browser gets them. */
export async function endQuickly(page: Page, { x, y }: Place): Promise<void> {
  await page.evaluate(`(() => {
    const chart = document.querySelector('svg[aria-label*="points, arrow keys read them"]');
    for (const type of ["pointermove", "pointerup"])
      chart.dispatchEvent(new PointerEvent(type, { bubbles: true, clientX: ${x}, clientY: ${y} }));
  })()`);
}

/** Waits until the address has days other than the whole month. */
export async function readDays(page: Page): Promise<readonly [first: number, last: number]> {
  const day = (url: URL, name: string): number => Number(url.searchParams.get(name)?.slice(-2));
  const days = (url: URL): readonly [number, number] => [day(url, "from"), day(url, "to")];
  await page.waitForURL((url) => days(url).join() !== "1,31");
  return days(new URL(page.url()));
}
