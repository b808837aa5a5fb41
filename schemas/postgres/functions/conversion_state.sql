-- What a change is decided from. Money leaves as text: a JSON number would become a float.
create or replace function conversion_state(c conversion) returns jsonb immutable language sql as $$
  select jsonb_build_object('id', c.id, 'workspace_id', c.workspace_id, 'offer_id', c.offer_id, 'affiliate_id', c.affiliate_id, 'advertiser_id',
    c.advertiser_id, 'event_code', c.event_code, 'status', c.status, 'status_reason', c.status_reason, 'is_duplicate',
    c.is_duplicate, 'revenue', c.revenue::text, 'payout', c.payout::text, 'sale_amount', c.sale_amount::text, 'currency',
    c.currency, 'payout_type', c.payout_type, 'payout_rate', c.payout_rate::text, 'payout_given', c.payout_given,
    'revenue_type', c.revenue_type, 'revenue_rate', c.revenue_rate::text, 'revenue_given', c.revenue_given,
    'adv_txid', c.adv_txid, 'method', c.method, 'conv_ts', c.conv_ts, 'version', c.version,
    'is_held', c.status = 'pending' and c.hold_until is not null,
    'report_fingerprint', '\x' || encode(c.report_fingerprint, 'hex'),
    'change_fingerprint', '\x' || encode(c.change_fingerprint, 'hex'),
    'asked_status', c.asked_status)
$$;
