-- reads: 0040
-- no transaction
-- Access requests of a workspace, newest first, and those that wait.
drop index concurrently if exists offer_access_requests;
create index concurrently offer_access_requests on offer_access
  (workspace_id, (coalesce(requested_at, 'epoch'::timestamptz)) desc, offer_id desc, affiliate_id desc) where is_asked;
drop index concurrently if exists offer_access_waiting;
create index concurrently offer_access_waiting on offer_access
  (workspace_id, (coalesce(requested_at, 'epoch'::timestamptz)) desc, offer_id desc, affiliate_id desc)
  where is_asked and status = 'pending';

-- What waits for a decision of the staff.
drop index concurrently if exists conversion_waiting;
create index concurrently conversion_waiting on conversion (workspace_id, conv_ts desc, id desc) include (status_reason)
  where status = 'pending';
drop index concurrently if exists conversion_alerted;
create index concurrently conversion_alerted on conversion (workspace_id, conv_ts desc, id desc) where cap_alert;
drop index concurrently if exists affiliate_waiting;
create index concurrently affiliate_waiting on affiliate (workspace_id, created_at desc, id desc) where status = 'pending';
drop index concurrently if exists postback_disabled;
create index concurrently postback_disabled on postback (workspace_id, created_at desc, id desc) where status = 'disabled';

-- Keys of an account.
drop index concurrently if exists api_key_affiliate;
create index concurrently api_key_affiliate on api_key (affiliate_id, created_at desc, id desc) where affiliate_id is not null;
drop index concurrently if exists api_key_advertiser;
create index concurrently api_key_advertiser on api_key (advertiser_id, created_at desc, id desc) where advertiser_id is not null;

-- Owners of caps.
drop index concurrently if exists offer_capped;
create index concurrently offer_capped on offer (workspace_id, id) where caps <> '{}' and deleted_at is null;
drop index concurrently if exists offer_group_capped;
create index concurrently offer_group_capped on offer_group (workspace_id, id) where caps <> '{}';
drop index concurrently if exists advertiser_capped;
create index concurrently advertiser_capped on advertiser (workspace_id, id) where budget_caps <> '{}';
