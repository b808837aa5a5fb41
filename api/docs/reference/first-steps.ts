/** One call of the first set-up, as a new user types it. */
export type FirstStep = {
  readonly operationId: string;
  readonly title: string;
  readonly path: string;
  /** JSON with shell variables: `$NAME` is a value from the answer of an earlier step. */
  readonly body?: string;
  /** Shell variables for later steps → the field of the answer's `data` with the value. */
  readonly keeps?: Readonly<Record<string, string>>;
  readonly note?: string;
};

/**
 * Builds a network from nothing up to its first report. `$API` is the address of this API, `$KEY` an admin key. Steps that this
 * version of the service does not support are left out of the page.
 */
export const FIRST_STEPS: readonly FirstStep[] = [
  {
    operationId: "getMe",
    title: "See who you are",
    path: "/me",
  },
  {
    operationId: "createAdvertiser",
    title: "Add an advertiser, who sells the goods",
    path: "/advertisers",
    body: '{"name": "Summer Shoes Ltd", "currency": "USD"}',
    keeps: { ADVERTISER_ID: "id", ADVERTISER_TOKEN: "postback_token" },
    note: "The advertiser reports sales with its token, see the last step.",
  },
  {
    operationId: "createOffer",
    title: "Add an offer: what is promoted, and what a sale earns you and the partner",
    path: "/offers",
    body:
      '{"name": "Summer shoes", "advertiser_id": $ADVERTISER_ID, "revenue": "15", "payout": "10",\n' +
      ' "destination_url": "https://shop.example/?click={click_id}"}',
    keeps: { OFFER_ID: "id", OFFER_CODE: "code" },
    note: "`visibility` is `public`: every partner may run it. Macros such as `{click_id}` are replaced when a visitor clicks.",
  },
  {
    operationId: "createAffiliate",
    title: "Add a partner, who sends visitors",
    path: "/affiliates",
    body: '{"name": "Anna"}',
    keeps: { AFFILIATE_ID: "id", AFFILIATE_CODE: "code" },
  },
  {
    operationId: "createTrackingDomain",
    title: "Set the domain of your links",
    path: "/tracking-domains",
    body: '{"host": "$TRACKING_HOST", "scheme": "$TRACKING_SCHEME", "is_default": true}',
    keeps: { DOMAIN_ID: "id" },
    note: "Point its DNS name at the tracking port. The address that `npm start` printed belongs to the demo: on one machine use `localhost` with its port.",
  },
  {
    operationId: "getTrackingLink",
    title: "Get the partner's link",
    path: "/tracking-link?offer=$OFFER_ID&affiliate=$AFFILIATE_CODE&sub1=newsletter",
  },
  {
    operationId: "createPostback",
    title: "Send approved conversions to the partner's server",
    path: "/postbacks",
    body:
      '{"affiliate_id": $AFFILIATE_ID, "offer_id": $OFFER_ID,\n' +
      ' "url": "https://partner.example/pb?click={click_id}&payout={payout}"}',
  },
  {
    operationId: "createWebhook",
    title: "Send events to your own server too",
    path: "/webhooks",
    body: '{"name": "CRM", "url": "https://crm.example/hook", "events": ["conversion.created", "conversion.updated"]}',
  },
  {
    operationId: "createKey",
    title: "Give the partner a key of its own",
    path: "/keys",
    body: '{"name": "Anna", "role": "partner", "affiliate_id": $AFFILIATE_ID}',
    keeps: { PARTNER_KEY: "key" },
    note: "Only this answer contains the key. Partners see their own clicks and conversions, and no revenue.",
  },
  {
    operationId: "createKey",
    title: "Give the advertiser a key of its own",
    path: "/keys",
    body: '{"name": "Summer Shoes", "role": "advertiser", "advertiser_id": $ADVERTISER_ID}',
    keeps: { ADVERTISER_KEY: "key" },
  },
  {
    operationId: "createKey",
    title: "Give an analyst a key that reads everything and changes nothing",
    path: "/keys",
    body: '{"name": "Analyst", "role": "analyst"}',
    keeps: { ANALYST_KEY: "key" },
  },
  {
    operationId: "createKey",
    title: "Give a colleague an admin key",
    path: "/keys",
    body: '{"name": "Colleague", "role": "admin"}',
    keeps: { ADMIN_KEY: "key" },
  },
  {
    operationId: "getReport",
    title: "Read the first report",
    path: "/reports?preset=today&group_by=offer,affiliate",
  },
];

/** The command line of a step. It uses `$API`, `$KEY` and the variables of earlier steps. */
export function commandOf({ path, body }: FirstStep): string {
  const head = `curl -s -H "Authorization: Bearer $KEY" "$API${path}"`;
  if (body === undefined) return head;
  return `${head} \\\n  -H 'Content-Type: application/json' -d @- <<END\n${body}\nEND`;
}
