const MASK = "***";

/** These name the partner or what it earns, so an advertiser does not see them at all. */
const OF_PARTNERS =
  /^(aff|aff_id|affiliate_id|affiliate|payout|source|source_id|src|(sub|s|aff_sub|sub_?id)\d{0,2})$/i;
/** Values of other parameters may be anything, also a visitor's address. */
const SHOWN: ReadonlySet<string> = new Set(
  `click_id transaction_id tid first_click_id gclid gbraid wbraid msclkid event amount sale_amount revenue currency txid adv_txid
    order_id status offer_id offer coupon_code coupon conversion_id test js organic adv1 adv2 adv3 adv4 adv5`.split(
    /\s+/,
  ),
);

/** Parameters of a logged call as the advertiser sees them. Parameters that the service does not know keep their name, to find misspelt names. */
export function paramsForAdvertiser(
  params: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    if (OF_PARTNERS.test(name)) continue;
    shown[name] = value === "" || SHOWN.has(name) ? String(value) : MASK;
  }
  return shown;
}
