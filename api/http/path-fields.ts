import { z } from "zod";
import { CODE_FORM, isCode } from "../../schemas/catalog/code-form.ts";
import { parseReference, type Reference } from "../operation/codes.ts";
import { sentAs } from "../operation/parameters.ts";

const ID_MAX = 2_147_483_647;
const shownId = z.int().min(1).max(ID_MAX);

/** How a reference to an offer or an affiliate is described. */
export const shownReference = z.union([shownId, z.string().regex(CODE_FORM)]);

/** `{id}` of an offer or an affiliate: id or code. */
export const reference: z.ZodType<Reference, string> = sentAs(
  z.string().transform((text, context) => {
    const parsed = parseReference(text);
    if (parsed === undefined) {
      context.addIssue("neither an id nor a code");
      return z.NEVER;
    }
    return parsed;
  }),
  shownReference,
).meta({ description: "Id or code" });

export const pathId: z.ZodType<number, string> = sentAs(
  z
    .string()
    .regex(/^[1-9]\d{0,9}$/)
    .transform(Number)
    .refine((id) => id <= ID_MAX),
  shownId,
).meta({ description: "Id" });

export const pathCode = z.string().regex(CODE_FORM).refine(isCode).meta({ description: "Code" });

/** Code of an event in a path (G42). */
export const pathEventCode = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,64}$/)
  .meta({ description: "Code of an event" });

/** Accepts any case and converts to lower case (G95). */
export const pathUuid: z.ZodType<string, string> = sentAs(
  z
    .string()
    .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i)
    .transform((id) => id.toLowerCase()),
  z.string().meta({ format: "uuid" }),
).meta({ description: "UUID" });
