import { z } from "zod";

/** How many faulty entries of a list are reported, with the entries of lists within it. Entries behind them are not looked at. */
export const FAULTY_ENTRIES_MAX = 100;
/** Said of a list with entries behind them. */
export const MORE_FAULTY_ENTRIES = `only the first ${FAULTY_ENTRIES_MAX} faulty entries are named`;

type Bounds = {
  /** Said of anything but a list. */
  readonly expected: string;
  readonly max: number;
  /** Said of a longer list. */
  readonly tooMany: string;
};

/**
 * A list in a body. Unlike `z.array`, it looks at no entry of a list that is too long, and stops after {@link FAULTY_ENTRIES_MAX} faulty
 * entries: a fault costs ten times as much as a right entry (G213).
 */
export function listOf<Element extends z.ZodType>(
  element: Element,
  { expected, max, tooMany }: Bounds,
): z.ZodArray<Element> {
  const list = new BoundedList({ type: "array", element, error: () => expected, max, tooMany });
  // The check describes the list in OpenAPI. It never fails, because `parse` has looked at the length before.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its element is the given one, which a constructor without type parameters cannot say
  return list.max(max, tooMany) as z.ZodArray<Element>;
}

type Definition = z.core.$ZodArrayDef & Pick<Bounds, "max" | "tooMany">;
type Payload = z.core.ParsePayload;

const BoundedList = z.core.$constructor<z.ZodArray, Definition>("BoundedList", (list, def) => {
  z.ZodArray.init(list, def);
  const parseOther = list._zod.parse.bind(list._zod);
  list._zod.parse = (payload, context) => {
    const value: unknown = payload.value;
    if (!isList(value)) return parseOther(payload, context);
    if (value.length > def.max) return endedBy(payload, def.tooMany);
    const entries: unknown[] = [];
    let faulty = 0;
    for (const [index, entry] of value.entries()) {
      const read = def.element._zod.run({ value: entry, issues: [] }, context);
      if (read instanceof Promise) throw new z.core.$ZodAsyncError();
      entries.push(read.value);
      if (read.issues.length === 0) continue;
      payload.issues.push(...z.core.util.prefixIssues(index, read.issues));
      faulty += Math.max(1, read.issues.filter(isOfEntry).length);
      if (faulty < FAULTY_ENTRIES_MAX || index === value.length - 1) continue;
      return endedBy(payload, MORE_FAULTY_ENTRIES);
    }
    payload.value = entries;
    return payload;
  };
});

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** Whether an issue of an entry is about an entry of a list within it. */
function isOfEntry({ path = [] }: z.core.$ZodRawIssue): boolean {
  return path.some((part) => typeof part === "number");
}

/** A list that was not read to its end: its other checks would see entries of any kind. */
function endedBy(payload: Payload, message: string): Payload {
  payload.issues.push({ code: "custom", message, input: payload.value, continue: false });
  payload.aborted = true;
  return payload;
}
