import { expect, test } from "vitest";
import { isEnding, type LaneEvent, type LaneState, nextState } from "./lane-state.ts";

const EVENTS: readonly LaneEvent[] = ["opened", "failed", "closed", "lost"];
const STATES: readonly LaneState[] = ["opening", "open", "draining", "stopping", "lost"];

test("a lane that ends never opens again, and a lost one stays lost", () => {
  for (const state of STATES.filter(isEnding)) {
    for (const event of EVENTS) expect(isEnding(nextState(state, event))).toBe(true);
  }
  for (const event of EVENTS) expect(nextState("lost", event)).toBe("lost");
});

test("the rest is written only by a lane that was open when it was closed, and has not failed since", () => {
  const after = (...events: LaneEvent[]): LaneState => events.reduce(nextState, "opening");
  expect(after("opened", "closed")).toBe("draining");
  expect(after("opened", "failed", "opened", "closed")).toBe("draining");
  expect(after("opened", "closed", "failed")).toBe("stopping");
  expect(after("opened", "failed", "closed")).toBe("stopping");
  expect(after("opened", "failed", "closed", "opened")).toBe("draining");
  expect(after("closed", "opened")).toBe("draining");
  expect(after("opened", "closed", "lost")).toBe("lost");
});
