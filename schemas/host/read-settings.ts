import { z } from "zod";

/** Settings that a person wrote wrongly: `message` has one line for each, and the process exits with code 2. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads one process's settings from environment variables. An empty variable counts as unset.
 * @throws {SettingsError} that names every wrong variable at once.
 */
export function readSettings<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  environment: Environment,
): z.infer<z.ZodObject<Shape>> {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""),
  );
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  throw new SettingsError(lines.join("\n"));
}

/** A whole number within bounds, both included. */
export function wholeNumber(bounds: { min: number; max: number }): z.ZodType<number, string> {
  const message = `expected a whole number from ${bounds.min} to ${bounds.max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .refine((value) => value >= bounds.min && value <= bounds.max, message);
}

/** `0` or `1`. */
export function onOff(): z.ZodType<boolean, string> {
  return z.enum(["0", "1"], "expected 0 or 1").transform((value) => value === "1");
}

/** Comma-separated words; empty items are left out. */
export function list(): z.ZodType<string[], string> {
  return z.string().transform((text) =>
    text
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== ""),
  );
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Comma-separated waits such as `5s,30s,2m,1h`, in milliseconds; a bare number is seconds. A zero at the front stands for the
 * first attempt, which waits for nothing, and is left out.
 */
export function durations(bounds: { itemsMax: number }): z.ZodType<number[], string> {
  const message = `expected 1 to ${bounds.itemsMax} durations such as 5s,30s,2m,1h`;
  return z.string().transform((text, context) => {
    const items = text.split(",").map((item) => /^(\d{1,9})(ms|s|m|h|d)?$/.exec(item.trim()));
    const waitsMs = items.map((match) => Number(match?.[1]) * (UNIT_MS[match?.[2] ?? "s"] ?? 0));
    if (items.length > bounds.itemsMax || waitsMs.some((ms) => Number.isNaN(ms))) {
      context.addIssue(message);
      return z.NEVER;
    }
    return waitsMs[0] === 0 ? waitsMs.slice(1) : waitsMs;
  });
}

/** A URL with one of these schemes. */
export function url(...schemes: string[]): z.ZodType<string, string> {
  const message = `expected a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`;
  return z
    .string()
    .refine(
      (text) => schemes.some((scheme) => text.startsWith(`${scheme}://`)) && URL.canParse(text),
      message,
    );
}
