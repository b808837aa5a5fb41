import { z } from "zod";
import { addressForms } from "../../../schemas/erasure/address-forms.ts";
import { withErasureLease } from "../../../schemas/erasure/erasure-lease.ts";
import { erase, type Subject } from "../../../schemas/erasure/erasures.ts";
import { parseClickId } from "../../../schemas/ids/click-id.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import { unrestrictedAdminWrite } from "../../access/access-of-operations.ts";
import { ApiError } from "../../operation/errors.ts";
import { type FieldFaults, type Operation, operation } from "../../operation/operation.ts";

const EMAIL_LENGTH_MAX = 254;
const FIELDS = ["click_id", "email", "ip"] as const;
/** Each call rewrites parts of the click table. */
const CALLS_PER_MINUTE = 10;
const RETRY_AFTER_SEC = 15;

const Body = z.strictObject({
  click_id: z
    .string("expected a click ID")
    .refine((text) => parseClickId(text) !== undefined, "expected 32 hex digits")
    .optional(),
  email: z
    .string("expected an e-mail address")
    .max(EMAIL_LENGTH_MAX, `expected at most ${EMAIL_LENGTH_MAX} characters`)
    .regex(/^\s*[^\s@]+@[^\s@]+\s*$/, "expected an e-mail address")
    .optional(),
  ip: z
    .string("expected an IP address")
    .refine((text) => addressForms(text) !== undefined, "expected an IPv4 or IPv6 address")
    .optional(),
});

const Shown = z
  .strictObject({
    clicks: z.int().meta({ description: "Clicks" }),
    conversions: z.int().meta({ description: "Conversions" }),
    log_rows: z.int().meta({ description: "Rows of the inbound log" }),
    deliveries: z.int().meta({ description: "Deliveries of postbacks and webhooks" }),
  })
  .meta({ id: "Erasure", description: "Number of rows changed" });

export const createErasure: Operation = operation({
  name: "createErasure",
  method: "POST",
  path: "/erasures",
  tag: "Management",
  summary: "Erase a visitor's data",
  description:
    "By click, e-mail or IP address. Give exactly one field. `click_id` and `email` clear the address, user agent, referrer, ad-platform click IDs, and the " +
    "e-mail and phone hashes of the click and its conversions, and the same values in the inbound log and in deliveries. `ip` " +
    "clears the address everywhere. Rows, money and reports stay as they are. A second call, or an unknown value, " +
    "returns zeros. The answer counts what was stored when the call was made. Data in use at that moment are cleared too: memory within " +
    "seconds, requests to partners and webhooks that are being sent are not stopped (10 s), and rows that were being written " +
    "are cleared within about 20 s, in their log of deliveries within a minute. Clicks and reports from before the call that " +
    "arrive later, from a journal or a stream that is read again, are stored without the erased values. Raw messages stay in " +
    "journals until they are stored and in the stream for 72 hours, where no answer shows them.",
  access: unrestrictedAdminWrite,
  input: { body: Body },
  output: z.object({ data: Shown }),
  status: 200,
  failures: ["rate_limited", "unavailable"],
  findFaults: async (_context, { body }) => await Promise.resolve(formFaults(body)),
  run: async ({ db, clickhouse, workspace }, { body }) => {
    const subject = subjectOf(body);
    const data = await withErasureLease(db, async () => {
      await assertWithinBudget(db);
      return await erase({ db, clickhouse }, { workspaceId: workspace.id, subject });
    });
    if (data === "busy") throw busy("another erasure is under way: try again later");
    return { body: { data } };
  },
});

function formFaults(body: Readonly<Record<string, unknown>>): FieldFaults {
  const given = FIELDS.filter((field) => body[field] !== undefined);
  if (given.length === 1) return {};
  const named = given.length === 0 ? (["click_id"] as const) : given;
  return Object.fromEntries(
    named.map((field) => [field, "expected exactly one of click_id, email and ip"]),
  );
}

function subjectOf({ click_id = "", email, ip = "" }: z.output<typeof Body>): Subject {
  if (email !== undefined) return { kind: "email", email };
  const forms = addressForms(ip);
  if (forms !== undefined) return { kind: "ip", forms };
  return { kind: "click", clickId: parseClickId(click_id) ?? "" };
}

/** An erasure from more than a minute ahead was made under a clock of Postgres that has since been set back: it does not count. */
async function assertWithinBudget(db: Pool): Promise<void> {
  const { rows } = await db.query<{ calls: number }>({
    name: "count-recent-erasures",
    text: `select count(*) as calls from erasure
           where at between clock_timestamp() - interval '1 minute' and clock_timestamp() + interval '1 minute'`,
  });
  if ((rows[0]?.calls ?? 0) >= CALLS_PER_MINUTE)
    throw busy(`at most ${CALLS_PER_MINUTE} erasures a minute: try again later`);
}

function busy(message: string): ApiError {
  return new ApiError("rate_limited", message, {
    headers: { "retry-after": String(RETRY_AFTER_SEC) },
  });
}
