-- What lists are filtered by and few rows have: each filter reads a page from an index of its own, in the order of the list.

create index affiliate_manager on affiliate (manager_id, created_at desc, id desc) where manager_id is not null;
create index offer_access_list on offer_access (offer_id, (coalesce(requested_at, 'epoch')) desc, affiliate_id desc);
create index postback_offer on postback (offer_id, created_at desc, id desc);

create index conversion_offer on conversion (offer_id, conv_ts desc, id desc);
create index conversion_txid on conversion (workspace_id, adv_txid, conv_ts desc, id desc) where adv_txid is not null;
-- Of what always arrives, what did not is rare.
create index delivery_trouble on delivery (kind, endpoint_id, created_at desc, id desc) where status in ('retrying', 'failed');

create index coupon_offer on coupon (offer_id, created_at desc, id desc) where offer_id is not null;
create index coupon_affiliate on coupon (affiliate_id, created_at desc, id desc);
create index coupon_exact_code on coupon (workspace_id, code);
create index link_key_offer on link_key (offer_id, created_at desc, id desc);
create index link_key_affiliate on link_key (affiliate_id, created_at desc, id desc);
create index payout_override_offer on payout_override (offer_id, created_at desc, id desc);
create index payout_override_partner on payout_override (affiliate_id, created_at desc, id desc);
create index smart_link_affiliate on smart_link (affiliate_id, created_at desc, id desc) where affiliate_id is not null;
create index smart_link_exact_code on smart_link (workspace_id, code);
create index tracking_domain_assignment_domain on tracking_domain_assignment (domain_id, created_at desc, id desc);
create index tracking_domain_assignment_affiliate on tracking_domain_assignment (affiliate_id, created_at desc, id desc)
  where affiliate_id is not null;
create index tracking_domain_assignment_offer on tracking_domain_assignment (offer_id, created_at desc, id desc)
  where offer_id is not null;

-- What most rows of a log share stays out of the index: a common result is found on the way through the list.
create index postback_log_click on postback_log (click_id, ts desc, id desc) where click_id is not null;
create index postback_log_conversion on postback_log (conversion_id, ts desc, id desc) where conversion_id is not null;
create index postback_log_result on postback_log (workspace_id, result, ts desc, id desc) where result <> 'approved';
create index audit_log_key on audit_log (key_id, ts desc, id desc) where key_id is not null;
create index fx_rate_currency on fx_rate (currency, date desc);

-- What each row of a partner's lists asks besides: whether an event is private, and which domain links stand on.
create index offer_event_private on offer_event (offer_id, code) where is_private;
create index tracking_domain_first on tracking_domain (workspace_id, is_default desc, id) where status = 'active';
-- Overrides of one partner and one offer. Made last: of indexes that promise one row the planner takes the newest, and with the
-- partner's alone it read all overrides of the partner for each offer of a page.
create index payout_override_pair on payout_override (affiliate_id, offer_id);
