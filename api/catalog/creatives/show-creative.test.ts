import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../../../test/samples/any-text.ts";
import { creativeOfPartner } from "./show-creative.ts";

const LINK = "https://go.example/r/OFFER/PARTNER";
const IMAGE = {
  name: "Spring",
  kind: "image",
  url: "https://cdn.example/a.png",
  body: "",
  width: 300,
  height: 250,
};

test("an image becomes an anchor to the link around the image (CRE-006)", () => {
  expect(creativeOfPartner(IMAGE, LINK)).toEqual({
    ...IMAGE,
    tracking_link: LINK,
    html: `<a href="${LINK}"><img src="https://cdn.example/a.png" width="300" height="250" alt="Spring" border="0"></a>`,
  });
});

test("an unknown size is left to the browser", () => {
  const { html } = creativeOfPartner({ ...IMAGE, width: 0, height: 0 }, LINK);
  expect(html).toContain('<img src="https://cdn.example/a.png" alt="Spring" border="0">');
});

test.each(["html", "text", "link", "email"])("%s creatives have no html (CRE-006)", (kind) => {
  expect(creativeOfPartner({ ...IMAGE, kind }, LINK)).not.toHaveProperty("html");
});

test("every {tracking_link} in url and body is replaced, and nothing else (CRE-007)", () => {
  const creative = {
    ...IMAGE,
    kind: "html",
    url: "{tracking_link}",
    body: "<a href='{tracking_link}'>{name}</a> {tracking_link} $& {TRACKING_LINK}",
  };
  expect(creativeOfPartner(creative, LINK)).toMatchObject({
    url: LINK,
    body: `<a href='${LINK}'>{name}</a> ${LINK} $& {TRACKING_LINK}`,
  });
});

test("for any name of a creative, its markup stays one anchor and one image", () => {
  fc.assert(
    fc.property(anyText(), anyText(), (name, rest) => {
      const url = `https://cdn.example/${rest}`;
      const { html = "" } = creativeOfPartner({ ...IMAGE, name, url }, LINK);
      expect(html.match(/</g)).toHaveLength(3);
      expect(html.match(/>/g)).toHaveLength(3);
      expect(html.match(/"/g)).toHaveLength(12);
      expect(html).not.toContain("'");
    }),
  );
});
