/** Sub IDs of a click: values that a partner gives to a link, and that reports group by. */
export const SUB_IDS = [
  "sub1",
  "sub2",
  "sub3",
  "sub4",
  "sub5",
  "sub6",
  "sub7",
  "sub8",
  "sub9",
  "sub10",
] as const;
export type SubId = (typeof SUB_IDS)[number];

/** The same value for each sub ID, in their order. */
export function forEachSubId<Value>(value: Value): Record<SubId, Value> {
  return {
    sub1: value,
    sub2: value,
    sub3: value,
    sub4: value,
    sub5: value,
    sub6: value,
    sub7: value,
    sub8: value,
    sub9: value,
    sub10: value,
  };
}
