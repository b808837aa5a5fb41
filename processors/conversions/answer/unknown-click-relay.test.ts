import { expect, test } from "vitest";
import { relayUrl } from "./unknown-click-relay.ts";

test("the report's query follows that of the setting, and the setting's values win (G117)", () => {
  const params = { click_id: "f".repeat(32), amount: "9.90", adv1: "a b&c=ü", event: "sale" };
  expect(relayUrl("https://other.example/pb?token=T%20x&event=lead", params)?.href).toBe(
    `https://other.example/pb?token=T%20x&event=lead&click_id=${params.click_id}&amount=9.90&adv1=a+b%26c%3D%C3%BC`,
  );
  expect(relayUrl("https://other.example/pb", { tid: "x" })?.href).toBe(
    "https://other.example/pb?tid=x",
  );
  expect(relayUrl("https://other.example/pb?a=1", {})?.href).toBe("https://other.example/pb?a=1");
});

test("a setting that is not a URL has no relay URL", () => {
  for (const setting of ["", "other.example/pb", "https://", "http://[::1"])
    expect(relayUrl(setting, {})).toBeUndefined();
});

test("token, e-mail and telephone are not relayed (P31)", () => {
  const params = { token: "t", email: "a@b.c", em: "a@b.c", phone: "1", ph: "1", txid: "7" };
  expect(relayUrl("https://other.example/", params)?.href).toBe("https://other.example/?txid=7");
});
