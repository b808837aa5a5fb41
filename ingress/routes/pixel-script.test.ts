import { createContext, runInContext } from "node:vm";
import { expect, test } from "vitest";
import { aRequestFor } from "../../test/samples/a-request.ts";
import { pixelScript, pixelScriptRoute } from "./pixel-script.ts";

const ID = "0123456789abcdef0123456789abcdef";

/** Runs the script on a page with these cookies. Returns the pixel's URL without its random part. */
function fire(script: string, page: { cookie?: string; src?: string } = {}): string {
  const images: { src?: string }[] = [];
  class Image {
    src?: string;
    constructor() {
      images.push(this);
    }
  }
  const document = {
    cookie: page.cookie ?? "",
    currentScript: page.src === undefined ? null : { src: page.src },
  };
  runInContext(script, createContext({ document, Image }));
  expect(images).toHaveLength(1);
  const src = images[0]?.src ?? "";
  expect(src).toMatch(/&r=[a-z0-9]+$/);
  return src.replace(/&r=[a-z0-9]+$/, "");
}

test("the script fires the pixel of its own origin with its own parameters, marked with js=1 (PX-012)", () => {
  const src = "https://trk.example/px.js?offer=SHOP&amount=9.90";
  expect(fire(pixelScript("other.example", "offer=SHOP&amount=9.90"), { src })).toBe(
    "https://trk.example/px?offer=SHOP&amount=9.90&js=1",
  );
});

test("without a script element the request's host and the page's scheme are used (PX-012)", () => {
  const script = pixelScript("trk.example:8080", "offer=SHOP");
  expect(fire(script)).toBe("//trk.example:8080/px?offer=SHOP&js=1");
  const src = "https://shop.example/bundle.js";
  expect(fire(script, { src })).toBe("//trk.example:8080/px?offer=SHOP&js=1");
});

test("the page's trk_cid is the click when the parameters name none (PX-012, G158)", () => {
  const cookie = `a=b; trk_cid=${ID}; trk_fcid=x`;
  expect(fire(pixelScript("h", ""), { cookie })).toBe(`//h/px?click_id=${ID}&js=1`);
  expect(fire(pixelScript("h", "event=a"), { cookie })).toBe(`//h/px?click_id=${ID}&event=a&js=1`);
  expect(fire(pixelScript("h", "click_id="), { cookie })).toBe(
    `//h/px?click_id=${ID}&click_id=&js=1`,
  );
  for (const query of ["click_id=x", "a=b&tid=x", "transaction_id=x", "gclid=g"])
    expect(fire(pixelScript("h", query), { cookie })).toBe(`//h/px?${query}&js=1`);
  expect(fire(pixelScript("h", ""), { cookie: "trk_cid=zz" })).toBe("//h/px?js=1");
});

test("with html=1 the script fires the iframe pixel, in a frame that cannot reach the page (PBO-032)", () => {
  const frames: unknown[] = [];
  const attributes: string[][] = [];
  const frame = {
    setAttribute: (...attribute: string[]) => attributes.push(attribute),
    style: {},
    src: "",
  };
  const documentElement = { appendChild: (child: unknown) => frames.push(child) };
  const currentScript = { src: "https://trk.example/px.js?click_id=x&html=1" };
  const document = { cookie: "", currentScript, documentElement, createElement: () => frame };
  runInContext(pixelScript("h", "click_id=x&html=1"), createContext({ document }));
  expect(frames).toEqual([frame]);
  expect(attributes).toEqual([["sandbox", "allow-scripts"]]);
  expect(frame.src).toMatch(
    /^https:\/\/trk\.example\/px\.html\?click_id=x&html=1&js=1&r=[a-z0-9]+$/,
  );
  expect(fire(pixelScript("h", "click_id=x&html=10"))).toBe("//h/px?click_id=x&html=10&js=1");
});

test("nothing in the URL or the host becomes code (P28)", () => {
  const evil = `";alert(1)//\\"</script><!--\u2028\u2029'`;
  const script = pixelScript(evil, evil);
  expect(script).not.toContain("<");
  expect(script).not.toMatch(/[\u2028\u2029]/);
  expect(fire(script)).toBe(`//${evil}/px?${evil}&js=1`);
});

test("it is JavaScript, always 200 and never cached (PX-012, PX-013)", () => {
  const { answer } = pixelScriptRoute(aRequestFor("/px.js?offer=%zz"));
  expect(answer.status).toBe(200);
  expect(answer.headers).toContainEqual(["Content-Type", "text/javascript; charset=utf-8"]);
  expect(answer.headers).toContainEqual(["Cache-Control", "no-store"]);
});
