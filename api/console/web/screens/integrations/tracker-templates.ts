export type TrackerTemplate = {
  readonly name: string;
  /** What the partner's tracker takes. YOUR_DOMAIN stands for its host. */
  readonly address: string;
  /** What the partner's tracker calls its click ID in the links of its offers. */
  readonly clickMacro: string;
};

/** Only parameters that the public documentation of each tracker names. The click ID of the tracker travels in `sub1`. */
export const TRACKER_TEMPLATES: readonly TrackerTemplate[] = [
  {
    name: "BeMob",
    address: "https://YOUR_DOMAIN/postback?cid={sub1}&payout={payout}&txid={conversion_id}",
    clickMacro: "the click ID token",
  },
  {
    name: "Binom",
    address: "https://YOUR_DOMAIN/click.php?cnv_id={sub1}&payout={payout}&cnv_currency={currency}",
    clickMacro: "{clickid}",
  },
  {
    name: "Keitaro",
    address:
      "https://YOUR_DOMAIN/YOUR_KEY/postback?subid={sub1}&payout={payout}&currency={currency}&status={status}&sale_status=approved&lead_status=pending&rejected_status=rejected",
    clickMacro: "{subid}",
  },
  {
    name: "RedTrack",
    address: "https://YOUR_DOMAIN/postback?clickid={sub1}",
    clickMacro: "{clickid}",
  },
  {
    name: "Voluum",
    address:
      "https://YOUR_DOMAIN/postback?cid={sub1}&payout={payout}&currency={currency}&txid={conversion_id}",
    clickMacro: "{clickid}",
  },
];
