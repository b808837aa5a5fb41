import { expect, test } from "vitest";
import type { Demo } from "./demo-file.ts";
import { demoAt, welcomeText } from "./demo-file.ts";

const DEMO: Demo = {
  base_url: "http://127.0.0.1:8081/api/v1",
  mcp_url: "http://127.0.0.1:8081/mcp",
  tracking_url: "http://127.0.0.1:8080",
  workspace_id: 1,
  postback_token: "workspace-token",
  advertiser_postback_token: "advertiser-token",
  keys: { admin: "admin-key", analyst: "a", partner: "p", advertiser: "v" },
  links: {
    affiliate: "http://127.0.0.1:8080/r/shop/anna",
    transparent: "http://127.0.0.1:8080/c/key?url=http%3A%2F%2F127.0.0.1%3A8080%2F",
    smart: "http://127.0.0.1:8080/s/code",
  },
};
const at = { trackingUrl: "https://track.example.com", apiUrl: "http://[::1]:9001" };

test("on other ports the demo has the same keys and paths under the new addresses", () => {
  expect(demoAt(DEMO, at)).toEqual({
    ...DEMO,
    base_url: "http://[::1]:9001/api/v1",
    mcp_url: "http://[::1]:9001/mcp",
    tracking_url: "https://track.example.com",
    links: {
      affiliate: "https://track.example.com/r/shop/anna",
      transparent: "https://track.example.com/c/key?url=http%3A%2F%2F127.0.0.1%3A8080%2F",
      smart: "https://track.example.com/s/code",
    },
  });
});

test("a start ends with a click, its conversion and the report, ready to paste", () => {
  const text = welcomeText(
    { ...at, demoFile: ".data/demo.json", withKeys: true },
    demoAt(DEMO, at),
  );
  expect(text).toContain("curl -si 'https://track.example.com/r/shop/anna'");
  expect(text).toContain("https://track.example.com/pb?click_id=$CLICK_ID");
  expect(text).toContain("token=workspace-token");
  expect(text).toContain("Authorization: Bearer admin-key");
});

test("into a pipe no key and no token is printed, but where they are (#18)", () => {
  const text = welcomeText({ ...at, demoFile: "/d/demo.json", withKeys: false }, demoAt(DEMO, at));
  for (const secret of [DEMO.postback_token, DEMO.keys.admin]) expect(text).not.toContain(secret);
  expect(text).toContain('POSTBACK_TOKEN=$(node -p \'JSON.parse(fs.readFileSync("/d/demo.json"');
  expect(text).toContain("token=$POSTBACK_TOKEN");
  expect(text).toContain("Authorization: Bearer $ADMIN_KEY");
});

test("without a demo the addresses are said all the same", () => {
  const text = welcomeText({ ...at, demoFile: ".data/demo.json", withKeys: true }, undefined);
  expect(text).toContain("http://[::1]:9001/api/v1");
  expect(text).not.toContain("curl");
});
