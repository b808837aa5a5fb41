import { expect, test } from "vitest";
import { decodeBatchHead, encodeBatch, Watermarks } from "./click-batch.ts";
import { ClickTotals } from "./click-notice.ts";
import { ClickRecord } from "./click-record.ts";
import { InboundCalls } from "./inbound-call.ts";
import { PostbackReply, PostbackRequest } from "./postback-request.ts";

/** What a newer release may send to this one: new fields anywhere, and new values of what is only noted. */
const NEXT = { newer: { deep: ["field"] } };
const CALL = {
  endpoint: "pb",
  workspaceId: 1,
  requestId: null,
  receivedAtMs: 1,
  ip: "192.0.2.1",
  params: {},
  httpStatus: 200,
  result: "approved",
  clickId: null,
  message: "",
};
const CLICK = { click_id: "0".repeat(32), ts: 1, link_type: "affiliate", status: "redirect" };
const REPORT = {
  endpoint: "pb",
  params: {},
  cookieClickId: "",
  host: "t.example",
  ip: "192.0.2.1",
  userAgent: "",
  receivedAtMs: 1,
};

test("a call with a new endpoint or result is kept for the inbound log, and so are those beside it (P39)", () => {
  const newer = { ...CALL, ...NEXT, endpoint: "next", result: "next_result" };
  const calls = InboundCalls.parse([CALL, newer]);
  expect(calls).toEqual([CALL, { ...CALL, endpoint: "next", result: "next_result" }]);
});

test("a recorded conversion is recorded, whatever a newer release calls the result (P39)", () => {
  const reply = { httpStatus: 200, result: "next_result", body: { ok: true, next: 1 }, ...NEXT };
  expect(PostbackReply.parse(reply)).toEqual({
    httpStatus: 200,
    result: "error",
    body: { ok: true, next: 1 },
  });
});

test("a click with a new link type or status is a click (P39)", () => {
  const newer = { ...CLICK, ...NEXT, link_type: "next", status: "next" };
  expect(ClickRecord.parse(newer)).toMatchObject({ link_type: "next", status: "next" });
});

test("new fields of messages are ignored (P39)", () => {
  const head = { producer: 1, epoch: 1, lane: 0, first: 0, at: 1 };
  const batch = encodeBatch({ ...head, ...NEXT, lines: ["{}"] });
  expect(decodeBatchHead(batch).head).toEqual(head);
  const mark = { lane: 0, producer: 1, epoch: 1, next: 1, missing: [] };
  expect(Watermarks.parse([{ ...mark, ...NEXT }])).toEqual([mark]);
  expect(ClickTotals.parse({ lane: 0, totals: [], isWhole: true, ...NEXT })).toEqual({
    lane: 0,
    lanes: 4,
    totals: [],
    isWhole: true,
  });
  expect(PostbackRequest.parse({ ...REPORT, ...NEXT })).toEqual(REPORT);
});
