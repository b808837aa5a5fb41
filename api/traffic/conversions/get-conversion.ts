import { z } from "zod";
import { everyRole } from "../../access/access-of-operations.ts";
import { pathUuid } from "../../http/path-fields.ts";
import { notFound } from "../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import { ShownConversion } from "./conversion-fields.ts";
import { type ConversionRow, findConversion } from "./conversions.ts";
import { showConversion } from "./show-conversion.ts";

export const ConversionPath = z.object({ id: pathUuid });

/** @throws {ApiError} `not_found`. */
export async function getConversionOfPath(
  { db, principal }: OperationContext,
  { id }: { readonly id: string },
): Promise<ConversionRow> {
  const conversion = await findConversion(db, principal, id);
  if (conversion === undefined) throw notFound("conversion");
  return conversion;
}

export const getConversion: Operation = operation({
  name: "getConversion",
  method: "GET",
  path: "/conversions/{id}",
  tag: "Conversions",
  summary: "Get a conversion",
  access: everyRole("conversions.read"),
  input: { path: ConversionPath },
  output: z.object({ data: ShownConversion }),
  status: 200,
  findResource: getConversionOfPath,
  run: async ({ principal }, { resource }) =>
    await Promise.resolve({ body: { data: showConversion(principal.role, resource) } }),
});
