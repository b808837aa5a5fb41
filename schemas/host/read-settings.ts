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
