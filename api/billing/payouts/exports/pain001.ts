import { amountOf } from "../../../../schemas/money/amount.ts";
import { formatCoins } from "../../../../schemas/money/minor-units.ts";
import type { PaymentDetails } from "../details/payment-details.ts";
import { sepaText } from "../details/sepa-text.ts";
import type { ReadyLine } from "./ready-lines.ts";

const NAME_MAX = 70;
const NOTE_MAX = 140;
const TOWN_MAX = 35;

export type Transfers = {
  readonly runId: number;
  readonly approvedAt: string;
  readonly executionDate: string;
  readonly debtor: {
    readonly name: string;
    readonly iban: string;
    readonly bic?: string | undefined;
  };
  readonly lines: readonly ReadyLine[];
};

/** SEPA credit transfers as ISO 20022 pain.001.001.09 in euros. The same run gives the same bytes (N54). */
export function pain001({ runId, approvedAt, executionDate, debtor, lines }: Transfers): string {
  const total = formatCoins(
    lines.reduce((sum, { amount }) => sum + amountOf(amount), 0n),
    "EUR",
  );
  const sums = `<NbOfTxs>${lines.length}</NbOfTxs><CtrlSum>${total}</CtrlSum>`;
  const name = tag("Nm", sepaText(debtor.name, NAME_MAX));
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn>` +
    `<GrpHdr><MsgId>P${runId}</MsgId><CreDtTm>${approvedAt}</CreDtTm>${sums}<InitgPty>${name}</InitgPty></GrpHdr>` +
    `<PmtInf><PmtInfId>P${runId}</PmtInfId><PmtMtd>TRF</PmtMtd>${sums}<PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf>` +
    `<ReqdExctnDt><Dt>${executionDate}</Dt></ReqdExctnDt><Dbtr>${name}</Dbtr>${account("DbtrAcct", debtor.iban)}` +
    `${agent("DbtrAgt", debtor.bic)}<ChrgBr>SLEV</ChrgBr>\n${lines.map(transfer).join("")}` +
    `</PmtInf></CstmrCdtTrfInitn></Document>\n`
  );
}

function transfer({ reference, amount, statements, details }: ReadyLine): string {
  const { address, bic, holder = "", iban = "" } = details;
  const coins = formatCoins(amountOf(amount), "EUR");
  return (
    `<CdtTrfTxInf><PmtId><EndToEndId>${reference}</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">${coins}</InstdAmt></Amt>` +
    `${bic === undefined ? "" : agent("CdtrAgt", bic)}<Cdtr>${tag("Nm", sepaText(holder, NAME_MAX))}` +
    `${typeof address === "object" ? postal(address) : ""}</Cdtr>${account("CdtrAcct", iban)}` +
    `<RmtInf>${tag("Ustrd", sepaText(`${reference} ${statements.join(" ")}`, NOTE_MAX))}</RmtInf></CdtTrfTxInf>\n`
  );
}

function postal({
  street,
  postcode,
  town,
  country,
}: Exclude<PaymentDetails["address"], string | undefined>): string {
  const parts = [
    street === "" ? "" : tag("StrtNm", sepaText(street, NAME_MAX)),
    postcode === "" ? "" : tag("PstCd", sepaText(postcode, 16)),
    tag("TwnNm", sepaText(town, TOWN_MAX)),
    tag("Ctry", country),
  ];
  return `<PstlAdr>${parts.join("")}</PstlAdr>`;
}

function account(name: string, iban: string): string {
  return `<${name}><Id><IBAN>${iban}</IBAN></Id></${name}>`;
}

function agent(name: string, bic: string | undefined): string {
  const id = bic === undefined ? "<Othr><Id>NOTPROVIDED</Id></Othr>" : tag("BICFI", bic);
  return `<${name}><FinInstnId>${id}</FinInstnId></${name}>`;
}

/** The allowed characters of SEPA contain no markup but the apostrophe, which needs no escape in text. */
function tag(name: string, text: string): string {
  return `<${name}>${text === "" ? "NOTPROVIDED" : text}</${name}>`;
}
