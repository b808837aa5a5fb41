import assert from "node:assert";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, settled } from "../../../browser/console/console-browser.ts";
import { rest } from "./console-traffic.ts";
import { press } from "./people-pages.ts";
import { field, RecordWorld } from "./record-world.ts";

const program = findChromium();
const REPLY = "Welcome <b>Anna</b>: please send search traffic only.";
const NOTE = "Her last site was poor";

describe.skipIf(program === undefined)("what the staff tells a partner with a decision", () => {
  let browser: ConsoleBrowser;
  let world: RecordWorld;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
    world = new RecordWorld(browser);
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  test.each([
    ["Approve", "Your request was approved", "REPLYYES"],
    ["Reject", "Your request was rejected", "REPLYNO1"],
  ])("%s with a message: the partner reads it on its page of the offer", async (...row) => {
    const [button, heading, code] = row;
    const id = await world.makeOffer({ name: `Told ${button}`, code, visibility: "approval" });
    const partner = await world.open(`/offers/${id}`, "partner");
    await press(partner, "Ask for access");
    await press(partner.locator(".drawer"), "Ask for access");
    await partner.locator(".drawer").waitFor({ state: "detached" });
    const admin = await world.open("/inbox");
    await admin.getByLabel(`Select ${code} DEMOANNA`).check();
    await field(admin, "Message to the partner").fill(REPLY);
    await field(admin, "Note for the staff").fill(NOTE);
    await press(admin, button);
    // Nothing is told as long as the decision can be taken back; then it shows without a reload.
    await partner.getByText(heading).waitFor();
    const message = partner.getByRole("region", { name: "Message about your request" });
    expect(await message.textContent()).toContain(REPLY);
    expect(await partner.locator("body").textContent()).not.toContain(NOTE);
    await partner.reload();
    await settled(partner);
    await message.getByText(REPLY).waitFor();
    await admin.goto(
      `${world.base}/inbox?status=${button === "Approve" ? "approved" : "rejected"}`,
    );
    await settled(admin);
    await admin.locator("main tbody tr").filter({ hasText: REPLY }).first().waitFor();
    await partner.context().close();
    await admin.context().close();
  });

  test("the answers to another partner have neither the message nor the note", async () => {
    const made = await world.make("/affiliates", { name: "Curious", code: "CURIOUS1" });
    const grant = { name: "curious", role: "partner", affiliate_id: made };
    const answer = await fetch(`${browser.demo.base_url}/keys`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${browser.demo.keys.admin}`,
        "content-type": "application/json",
      },
      body: JSON.stringify(grant),
    });
    const { key } = z
      .object({ data: z.object({ key: z.string() }) })
      .parse(await answer.json()).data;
    for (const path of [
      "/offers?limit=200",
      "/offers/REPLYYES/access-request",
      "/offers/REPLYYES",
    ]) {
      const text = JSON.stringify(await rest(browser.demo, path, key));
      expect(text).not.toContain("search traffic only");
      expect(text).not.toContain(NOTE);
    }
  });
});
