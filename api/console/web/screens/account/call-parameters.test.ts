import { expect, test } from "vitest";
import { parametersIn } from "./call-parameters.ts";

test.each([
  ["click_id=ab\ntxid=7", { click_id: "ab", txid: "7" }],
  [
    "https://track.example/pb?token=secret&click_id=ab&amount=49.90",
    { click_id: "ab", amount: "49.90" },
  ],
  ["/pb?click_id=ab&test=1", { click_id: "ab" }],
  ["click_id=\n\n txid = 7 ", { txid: "7" }],
  ["txid=a%26b", { txid: "a&b" }],
  ["txid=a?b", { txid: "a?b" }],
  ["", {}],
])("of a call typed as %j the parameters %j are checked, never its token (#39)", (text, found) => {
  expect(parametersIn(text)).toEqual(found);
});
