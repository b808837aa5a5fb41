import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { validateXML } from "xmllint-wasm";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, ApiWorld, details, type Json, record, refusal } from "../api/api-world.ts";
import { approvedStatement } from "./statement-rows.ts";

const world = await forThisFile(ApiWorld.open());
const { workspaceId, keys } = world.tenant;
const SCHEMA = readFileSync("test/samples/pain.001.001.09.xsd", "utf8");
const IBAN = "DE89370400440532013000";
const Run = z.looseObject({
  id: z.int(),
  lines: z.array(z.looseObject({ reference: z.string() })),
});

await world.pool.query({
  text: `insert into billing_settings (workspace_id, enabled, starts_on, legal)
         values ($1, true, '2026-01-01', '{"name": "Ads & Söhne", "iban": "NL91ABNA0417164300"}')`,
  values: [workspaceId],
});

async function partner(name: string, method: string, fields: Json): Promise<number> {
  const { id } = record(await world.post("/affiliates", { name }));
  const body = { payment_method: method, payment_details: fields };
  const put = await world.call("PUT", `/affiliates/${id}/payment-method`, { body });
  expect(put.status, put.text).toBe(200);
  await world.pool.query({
    text: "update payment_method_change set at = at - interval '30 days'",
  });
  return Number(id);
}

/** An approved run that pays these amounts. */
async function approvedRun(currency: string, due: Readonly<Record<number, string>>) {
  for (const [id, amount] of Object.entries(due))
    await approvedStatement(world, { affiliateId: Number(id), amount, currency });
  const affiliateIds = Object.keys(due).map(Number);
  const body = { currency, execution_date: "2026-12-15", affiliate_ids: affiliateIds };
  const made = Run.parse((await world.post("/payout-runs", body)).body["data"]);
  expect(refusal(await exported(made.id, "csv"))).toBe("409 conflict");
  const approved = await world.call("POST", `/payout-runs/${made.id}/approve`);
  expect(approved.status, approved.text).toBe(200);
  return Run.parse(approved.body["data"]);
}

async function exported(id: number, format: string, key = keys.admin): Promise<Answer> {
  return await world.get(`/payout-runs/${id}/export?format=${format}`, key);
}

/** Without the number of the run, which depends on the tests before. */
async function textOf(run: z.output<typeof Run>, format: string): Promise<string> {
  const { status, text } = await exported(run.id, format);
  expect(status, text).toBe(200);
  return text.replaceAll(
    /P\d+L\d+/g,
    (reference) => `L${run.lines.findIndex((line) => line.reference === reference)}`,
  );
}

const anna = await partner("Anna Müller", "wire", { holder: '=Anna "Müller"', iban: IBAN });
const bert = await partner("Bert", "wire", { holder: "Юрий", iban: IBAN, bic: "COBADEFFXXX" });
const cleo = await partner("Cleo", "wallet_a", { account: "cleo@example.com" });

test("bank transfers are exported as CSV, for Wise and as SEPA transfers (N54)", async () => {
  const run = await approvedRun("EUR", { [anna]: "1840.55", [bert]: "0.1" });
  const lines = (await textOf(run, "csv"))
    .split("\r\n")
    .map((line) => line.replace(/S-\S+|\d+ *$/, ""));
  expect(lines[0]).toBe("reference,affiliate_code,name,method,currency,amount,details,statements");
  expect(lines[1]).toContain(
    `,Anna Müller,wire,EUR,1840.55,"holder: =Anna ""Müller""; iban: ${IBAN}"`,
  );
  expect(await textOf(run, "wise_csv")).toBe(
    "name,amount,amountCurrency,sourceCurrency,targetCurrency,paymentReference,IBAN,BIC,accountNumber,sortCode,country\r\n" +
      `"'=Anna ""Müller""",1840.55,EUR,EUR,EUR,L0,${IBAN},,,,DE\r\n` +
      `Юрий,0.10,EUR,EUR,EUR,L1,${IBAN},COBADEFFXXX,,,DE\r\n`,
  );
  const { text } = await exported(run.id, "pain001");
  expect((await validateXML({ xml: text, schema: SCHEMA })).errors).toEqual([]);
  expect(text).toContain("<NbOfTxs>2</NbOfTxs><CtrlSum>1840.65</CtrlSum>");
  expect(text).toContain("<Nm>Iurii</Nm>");
});

test("a file is made once: a later change of details does not change its bytes (N54)", async () => {
  const run = await approvedRun("EUR", { [anna]: "5" });
  const first = await exported(run.id, "csv");
  const iban = "NL91ABNA0417164300";
  const body = { payment_method: "wire", payment_details: { holder: "Thief", iban } };
  await world.call("PUT", `/affiliates/${anna}/payment-method`, { body });
  expect((await exported(run.id, "csv")).text).toBe(first.text);
  expect((await exported(run.id, "wise_csv")).text).toContain(IBAN);
  const kept = await world.rows<{ id: number; format: string }>(
    `select id, format, encode(sha256, 'hex') as sha256, size, sha256 = sha256(bytes) as is_clear
     from billing_file where owner_id = $1 order by 2`,
    [run.id],
  );
  for (const { id, ...file } of kept) {
    const { text, headers } = await world.get(`/files/${id}`);
    const bytes = Buffer.from(text);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const { format } = file;
    // The size of a sealed file would be larger.
    expect(file).toEqual({ format, sha256, size: bytes.length, is_clear: false });
    expect(headers.get("content-type")).toContain("text/csv");
  }
  expect(kept.map(({ format }) => format)).toEqual(["csv", "wise_csv"]);
  const logged = await world.rows("select action from audit_log where action like '%/export%'");
  expect(logged.length).toBeGreaterThan(2);
});

test("wallets are exported for PayPal, in whole coins of their currency (N6, N54)", async () => {
  const run = await approvedRun("JPY", { [cleo]: "1840" });
  expect(await textOf(run, "paypal_csv")).toMatch(
    /^cleo@example\.com,1840,JPY,L0,"?L0 [^,\r]*"?,PAYPAL\r\n$/,
  );
  const kuwait = await approvedRun("KWD", { [cleo]: "1.234" });
  expect(await textOf(kuwait, "csv")).toContain(",wallet_a,KWD,1.234,account: cleo@example.com,");
});

test("a format that leaves somebody out is refused, and so are others than whole admins", async () => {
  const run = await approvedRun("EUR", { [bert]: "1", [cleo]: "2" });
  for (const format of ["pain001", "paypal_csv", "wise_csv"]) {
    const answer = await exported(run.id, format);
    expect([refusal(answer), details(answer).field]).toEqual(["409 conflict", "format"]);
  }
  expect((await exported(run.id, "csv")).status).toBe(200);
  expect(refusal(await exported(run.id, "xls"))).toBe("400 invalid_parameter");
  expect(refusal(await exported(run.id, "csv", keys.analyst))).toBe("403 read_only_key");
  expect(refusal(await exported(run.id, "csv", keys.partner))).toBe("403 forbidden");
  const foreign = await world.addTenant("elsewhere");
  expect(refusal(await exported(run.id, "csv", foreign.keys.admin))).toBe("404 not_found");
});

test("of an export and a cancellation at once, no cancelled run keeps a file that nobody was asked about", async () => {
  for (let round = 0; round < 10; round += 1) {
    const run = await approvedRun("EUR", { [bert]: "1" });
    const cancel = async (): Promise<Answer> =>
      await world.post(`/payout-runs/${run.id}/cancel`, {});
    const [file, cancelled] = await Promise.all([exported(run.id, "csv"), cancel()]);
    expect(file.status + cancelled.status).toBe(200 + 409);
    if (cancelled.status === 200) continue;
    expect(details(cancelled).field).toBe("file_was_not_sent");
    const sure = { file_was_not_sent: true };
    expect((await world.post(`/payout-runs/${run.id}/cancel`, sure)).status).toBe(200);
  }
});
