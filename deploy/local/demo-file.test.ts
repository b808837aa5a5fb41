import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { projectFile } from "../../schemas/host/project-root.ts";
import type { Demo } from "./demo-file.ts";
import { demoAt, firstStepsText, welcomeText } from "./demo-file.ts";

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

test("a start ends with a click, its conversion and the report, ready to paste and without a secret (#18)", () => {
  const text = welcomeText({ ...at, demoFile: "/d/demo.json" }, demoAt(DEMO, at));
  expect(text).toContain("  A link      https://track.example.com/r/shop/anna\n");
  expect(text).toContain('eval "$(node -p \'const d = JSON.parse(fs.readFileSync("/d/demo.json"');
  expect(text).toContain("POSTBACK_TOKEN=${d.postback_token}");
  expect(text).toContain("token=$POSTBACK_TOKEN");
  expect(text).toContain("Authorization: Bearer $ADMIN_KEY");
  for (const secret of [DEMO.postback_token, DEMO.keys.admin]) expect(text).not.toContain(secret);
});

test("the README has the lines that a start prints", () => {
  const readme = readFileSync(projectFile("README.md"), "utf8");
  expect(readme).toContain(firstStepsText(".data/demo.json").join("\n"));
});

test("without a demo the addresses are said all the same", () => {
  const text = welcomeText({ ...at, demoFile: ".data/demo.json" }, undefined);
  expect(text).toContain("http://[::1]:9001/api/v1");
  expect(text).not.toContain("curl");
});
