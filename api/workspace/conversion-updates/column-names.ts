/** What a row of a file may say of a conversion (N129). */
export const UPDATE_FIELDS = [
  "conversion_id",
  "offer",
  "txid",
  "event",
  "click_id",
  "status",
  "sale_amount",
  "revenue",
  "payout",
  "currency",
  "reason",
  "note",
] as const;
export type UpdateField = (typeof UPDATE_FIELDS)[number];

/** Names of columns in usual exports, in small letters without what separates words. What an advertiser calls its commission is what it pays us. */
const ALIASES: Readonly<Record<UpdateField, string>> = {
  conversion_id: "conversion",
  offer: "offerid offercode campaign campaignid program programid programme programmeid",
  txid: "advtxid transactionid transaction orderid order ordernumber orderno orderref orderreference invoiceid bookingid",
  event: "eventcode eventname goal goalid goalname",
  click_id: "clickid clickref subid clk",
  status:
    "state conversionstatus transactionstatus orderstatus validationstatus approvalstatus decision",
  sale_amount:
    "saleamount amount sale ordervalue ordertotal orderamount saleprice salevalue value total basketvalue",
  revenue: "commission commissionamount commissionvalue cost advertisercost",
  payout: "payoutamount affiliatecommission publishercommission partnercommission partnerpayout",
  currency: "currencycode salecurrency",
  reason: "statusreason declinereason declinedreason rejectionreason cancelreason voidreason",
  note: "notes comment comments remark",
};

const FIELD_OF = new Map<string, UpdateField>(
  UPDATE_FIELDS.flatMap((field) =>
    [field.replaceAll("_", ""), ...ALIASES[field].split(" ")].map((name): [string, UpdateField] => [
      name,
      field,
    ]),
  ),
);

const STATUSES: Readonly<Record<"approved" | "pending" | "rejected", string>> = {
  approved: "approved approve confirmed confirm accepted accept valid validated paid locked",
  pending: "pending open new hold onhold unconfirmed",
  rejected:
    "rejected reject declined decline cancelled canceled cancel void voided invalid reversed returned refunded denied disapproved",
};
const STATUS_OF = new Map(
  Object.entries(STATUSES).flatMap(([status, words]) =>
    words.split(" ").map((word): [string, string] => [word, status]),
  ),
);

/** The field that a column of a file stands for; "" if none is recognised. */
export function fieldOfColumn(column: string): UpdateField | "" {
  return FIELD_OF.get(bare(column)) ?? "";
}

/** The status that a word of another system stands for. */
export function statusOfWord(word: string): string | undefined {
  return STATUS_OF.get(bare(word));
}

function bare(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}
