import { z } from "zod";

/**
 * Describes a parameter by another schema than the one that reads its text: a list, a number or a boolean for callers, text for the
 * server. Apply it last, because a wrapper such as `optional` hides it; a later `meta` does not.
 */
export function sentAs<Parameter extends z.ZodType>(
  parameter: Parameter,
  shown: z.ZodType,
): Parameter {
  return parameter.meta({ sentAs: shown });
}

/** The parameters of a path or a query as callers send them. */
export function shownParameters(parameters: z.ZodObject): z.ZodObject {
  const shape: z.core.$ZodShape = parameters.shape;
  const shown = Object.entries(shape).map(([name, parameter]) => [name, shownParameter(parameter)]);
  return z.object(Object.fromEntries(shown));
}

function shownParameter(parameter: z.core.$ZodType): z.core.$ZodType {
  const { sentAs: shown, description } = z.globalRegistry.get(parameter) ?? {};
  if (!(shown instanceof z.ZodType)) return parameter;
  const noted = description === undefined ? shown : shown.meta({ description });
  return parameter._zod.optin === undefined ? noted : noted.optional();
}

export function parameterNames(schema: z.ZodType | undefined): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}
