import type { Queryable } from "../../../../schemas/postgres/connect.ts";
import { SecretKeyError, type SecretKeys } from "../../../../schemas/secrets/secret-keys.ts";
import { linePurpose, openDetails, UNOPENED } from "../details/payment-accounts.ts";
import type { PaymentDetails, PaymentMethod } from "../details/payment-details.ts";

/** A line of an approved run with the details that the approval froze. */
export type PaidLine = {
  readonly reference: string;
  readonly affiliate_code: string;
  readonly affiliate_name: string;
  readonly method: PaymentMethod;
  readonly currency: string;
  readonly amount: string;
  /** Numbers of the statements that it pays. */
  readonly statements: readonly string[];
  /** Undefined if the approval froze none. */
  readonly details: PaymentDetails | undefined;
};

type Row = Omit<PaidLine, "details"> & { readonly id: number; readonly sealed: Buffer | null };

/** In the order of their references. @throws {SecretKeyError} if no key opens the details of a line: a file without it would leave a partner unpaid. */
export async function readPaidLines(
  db: Queryable,
  runId: number,
  keys: SecretKeys,
): Promise<PaidLine[]> {
  const { rows } = await db.query<Row>({
    name: "read-paid-lines",
    text: `select l.id, l.reference, a.code as affiliate_code, a.name as affiliate_name, l.method, l.currency, l.amount,
             l.details as sealed, n.numbers as statements
           from payout_line l
           join affiliate a on a.id = l.affiliate_id
           cross join lateral (
             select array_agg(s.number order by s.id) as numbers
             from payout_line_statement p join statement s on s.id = p.statement_id where p.line_id = l.id) n
           where l.run_id = $1 and l.status <> 'held'
           order by l.id`,
    values: [runId],
  });
  return rows.map(({ id, sealed, ...line }) => ({
    ...line,
    details: sealed === null ? undefined : openFrozen(keys, sealed, id),
  }));
}

function openFrozen(keys: SecretKeys, sealed: Buffer, lineId: number): PaymentDetails {
  const details = openDetails(keys, sealed, linePurpose(lineId));
  if (details === UNOPENED)
    throw new SecretKeyError(`no key of SECRETS_KEY opens the details of payout line ${lineId}`);
  return details;
}
