import { z } from "zod";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { everyRole, unrestrictedAdminWrite } from "../../access/access-of-operations.ts";
import { referenceFaults } from "../../access/references.ts";
import { showTo } from "../../access/visibility.ts";
import { openPage } from "../../http/page.ts";
import { pathId } from "../../http/path-fields.ts";
import {
  currencyParam,
  dayParam,
  idParam,
  pageParams,
  wordParam,
} from "../../http/query-fields.ts";
import { conflict, invalidParameter, notFound, validationFailed } from "../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import { isStaff, keyIdOf, type Principal } from "../../operation/principal.ts";
import { findNamedAffiliates } from "../../traffic/ad-costs/ad-costs.ts";
import { ADJUSTMENT_KINDS, NewAdjustment, ShownAdjustment } from "./adjustment-fields.ts";
import {
  type Adjustment,
  type AdjustmentToPost,
  findAdjustment,
  hasConversion,
  listAdjustments as listRows,
  postAdjustment,
} from "./adjustments.ts";
import { dayBounds } from "./day-bounds.ts";

const PATH = "/adjustments";
const path = z.object({ id: pathId });
const output = z.object({ data: ShownAdjustment });
/** Staff, and each account its own. */
const read = { ...everyRole(), needsUnrestrictedKey: true } as const;
const REASON_MAX = 500;

const listAdjustments: Operation = operation({
  name: "listAdjustments",
  method: "GET",
  path: PATH,
  tag: "Billing",
  summary: "List adjustments",
  description: "Newest first. Partners and advertisers see their own, unless `visible` is false.",
  access: read,
  input: {
    query: z.object({
      ...pageParams,
      affiliate_id: idParam.meta({ description: "Staff keys only" }),
      advertiser_id: idParam.meta({ description: "Staff keys only" }),
      kind: wordParam(...ADJUSTMENT_KINDS),
      currency: currencyParam,
      from: dayParam.meta({ description: "First day, in the time zone of the workspace" }),
      to: dayParam.meta({ description: "Last day" }),
    }),
  },
  output: z.object({ data: z.array(ShownAdjustment), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const { principal, workspace } = context;
    for (const param of ["affiliate_id", "advertiser_id"] as const)
      if (query[param] !== undefined && !isStaff(principal.role))
        throw invalidParameter(param, "for staff keys only");
    const page = openPage(context, "listAdjustments", query);
    const rows = await listRows(context.db, principal, {
      ...page,
      ...dayBounds(workspace.timezone, query),
    });
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => showTo(principal.role, "adjustment", row),
      }),
    };
  },
});

const getAdjustment: Operation = operation({
  name: "getAdjustment",
  method: "GET",
  path: `${PATH}/{id}`,
  tag: "Billing",
  summary: "Get an adjustment",
  access: read,
  input: { path },
  output,
  status: 200,
  findResource: async (context, { id }) => await adjustmentOf(context, id),
  run: async ({ principal }, { resource }) =>
    await Promise.resolve({ body: { data: showTo(principal.role, "adjustment", resource) } }),
});

export const createAdjustment: Operation = operation({
  name: "createAdjustment",
  method: "POST",
  path: PATH,
  tag: "Billing",
  summary: "Create an adjustment",
  description:
    "Corrects what a partner is owed or an advertiser owes, at once and for good: it is not changed or deleted, only reversed by another one. A positive " +
    "amount means that the partner gets more, or that the advertiser owes more. `write_off` ends a partner's balance below 0, and never goes beyond 0.",
  access: unrestrictedAdminWrite,
  input: { body: NewAdjustment },
  bodyDefaults: { visible: true },
  digitFields: ["amount"],
  output,
  status: 201,
  failures: ["conflict"],
  keepsAnswer: true,
  findFaults: async (context, { body }) =>
    await referenceFaults(context, body, { advertiser_id: "advertiser" }),
  run: async (context, { body }) => {
    const adjustment = await resolved(context, body);
    return { body: { data: await post(context, adjustment) } };
  },
});

const reverseAdjustment: Operation = operation({
  name: "reverseAdjustment",
  method: "POST",
  path: `${PATH}/{id}/reverse`,
  tag: "Billing",
  summary: "Reverse an adjustment",
  description:
    "Creates the adjustment with the opposite amount, and answers it. An adjustment is reversed once; a reversal is not reversed.",
  access: unrestrictedAdminWrite,
  input: { path },
  output,
  status: 201,
  failures: ["conflict"],
  keepsAnswer: true,
  findResource: async (context, { id }) => await adjustmentOf(context, id),
  run: async (context, { resource }) => {
    if (resource.reverses_id !== null) throw conflict("id", "a reversal is not reversed");
    const reason = `Reversal: ${resource.reason}`.slice(0, REASON_MAX);
    const amount = resource.amount.startsWith("-")
      ? resource.amount.slice(1)
      : `-${resource.amount}`;
    const data = await post(context, { ...resource, amount, reason, reverses_id: resource.id });
    return { body: { data } };
  },
});

export const adjustmentOperations: readonly Operation[] = [
  listAdjustments,
  createAdjustment,
  getAdjustment,
  reverseAdjustment,
];

async function adjustmentOf({ db, principal }: OperationContext, id: number): Promise<Adjustment> {
  const found = await findAdjustment(db, principal, id);
  if (found === undefined) throw notFound("adjustment");
  return found;
}

/** The adjustment with its partner found by id or code. @throws {ApiError} `validation_failed` */
async function resolved(
  { db, workspace }: OperationContext,
  body: NewAdjustment,
): Promise<AdjustmentToPost> {
  const { affiliate_id: named, advertiser_id: advertiserId } = body;
  if ((named === null) === (advertiserId === null))
    throw validationFailed({ affiliate_id: "expected either a partner or an advertiser" });
  const affiliates =
    named === null ? undefined : await findNamedAffiliates(db, workspace.id, [named]);
  const affiliateId = named === null ? null : (affiliates?.get(named.code) ?? null);
  if (named !== null && affiliateId === null)
    throw validationFailed({ affiliate_id: "no such affiliate" });
  if (body.kind === "write_off") refuseWriteOff(body, affiliateId);
  const adjustment = { ...body, affiliate_id: affiliateId, reverses_id: null };
  if (body.conversion_id !== null && !(await hasConversion(db, workspace.id, adjustment)))
    throw validationFailed({ conversion_id: "no such conversion of this account" });
  return adjustment;
}

function refuseWriteOff({ amount }: NewAdjustment, affiliateId: number | null): void {
  if (affiliateId === null)
    throw validationFailed({
      kind: "write_off is for partners: a credit note takes back what an advertiser owes",
    });
  if (amount.startsWith("-"))
    throw validationFailed({ amount: "expected a positive amount: it ends a balance below 0" });
}

async function post(
  context: OperationContext,
  adjustment: AdjustmentToPost,
): Promise<Record<string, unknown>> {
  const { db, workspace, principal } = context;
  return await inTransaction(db, async (tx) => {
    const id = await postAdjustment(tx, workspace.id, { adjustment, author: authorOf(principal) });
    const row = await findAdjustment(tx, principal, id);
    if (row === undefined) throw new Error("the adjustment was just inserted");
    return showTo(principal.role, "adjustment", row);
  });
}

function authorOf({ actor }: Principal): {
  keyId: number | undefined;
  personId: number | undefined;
} {
  return {
    keyId: keyIdOf(actor) ?? undefined,
    personId: actor.kind === "person" ? actor.id : undefined,
  };
}
