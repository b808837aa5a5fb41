-- What a conversion is in a document: staff money (G132), and the code of its event under the name `event` (T62).
create or replace function conversion_document(c conversion) returns json language sql stable as $$
  select json_build_object('id', c.id, 'click_id', coalesce(c.click_id, ''), 'offer_id', c.offer_id,
    'affiliate_id', c.affiliate_id, 'advertiser_id', c.advertiser_id, 'event', c.event_code, 'status', c.status,
    'status_reason', c.status_reason, 'revenue', c.revenue::text, 'payout', c.payout::text,
    'sale_amount', c.sale_amount::text, 'currency', c.currency, 'adv_txid', coalesce(c.adv_txid, ''), 'method', c.method,
    'conv_ts', iso_time(c.conv_ts), 'click_ts', iso_time(c.click_ts), 'sub1', coalesce(c.click ->> 'sub1', ''),
    'sub2', coalesce(c.click ->> 'sub2', ''), 'sub3', coalesce(c.click ->> 'sub3', ''),
    'sub4', coalesce(c.click ->> 'sub4', ''), 'sub5', coalesce(c.click ->> 'sub5', ''),
    'source_id', coalesce(c.click ->> 'source_id', ''), 'gclid', coalesce(c.click ->> 'gclid', ''),
    'country', coalesce(c.click ->> 'country', ''), 'device_type', coalesce(c.click ->> 'device_type', ''))
$$;
