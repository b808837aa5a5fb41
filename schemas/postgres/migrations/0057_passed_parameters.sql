-- reads: 0040
-- Which parameters of a link reach the landing page: none, those that begin with utm_, or also all that have no column of their own.
alter table offer add column pass_parameters text not null default 'none'
  check (pass_parameters in ('none', 'utm', 'all'));

-- As before, and the passed parameters with the offer.
create or replace view catalog_entry_of_links as
  select 'installation' as kind, id::text as id, version,
         jsonb_build_object('id', id, 'secret', secret, 'lanes', lanes) as record from installation
  union all
  select 'workspace', id::text, version, to_jsonb(w) from workspace w
  union all
  select 'advertiser', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'name', name, 'status', status,
           'postback_token', postback_token, 'postback_ip_allowlist', postback_ip_allowlist, 'budget_caps', budget_caps)
    from advertiser
  union all
  select 'offer', id::text, version,
         case when deleted_at is null then
           jsonb_build_object('id', id, 'workspace_id', workspace_id, 'advertiser_id', advertiser_id, 'code', code,
             'name', name, 'status', status, 'visibility', visibility, 'destination_url', destination_url,
             'fallback_url', fallback_url, 'allowed_domains', allowed_domains, 'currency', currency,
             'revenue_type', revenue_type, 'revenue', revenue::text, 'payout_type', payout_type, 'payout', payout::text,
             'caps', caps, 'targeting', targeting, 'conversion_method', conversion_method,
             'unique_per_click', unique_per_click, 'attribution_days', attribution_days, 'default_status', default_status,
             'hold_days', trim_scale(hold_days)::text, 'min_seconds_to_conversion', min_seconds_to_conversion,
             'duplicate_click_seconds', duplicate_click_seconds, 'unique_click_hours', unique_click_hours,
             'fraud_checks', fraud_checks, 'terms', terms, 'fail_route_offer_id', fail_route_offer_id,
             'txid_scope', txid_scope, 'pass_parameters', pass_parameters)
         end
    from offer
  union all
  select 'offer_event', id::text, version,
         jsonb_build_object('id', id, 'offer_id', offer_id, 'code', code, 'name', name, 'revenue_type', revenue_type,
           'revenue', revenue::text, 'payout_type', payout_type, 'payout', payout::text, 'is_default', is_default,
           'is_private', is_private, 'allow_multiple', allow_multiple)
    from offer_event
  union all
  select 'affiliate', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'code', code, 'name', name, 'status', status,
           'throttle_percent', throttle_percent, 'hold_days', trim_scale(hold_days)::text)
    from affiliate
  union all
  select 'offer_access', offer_id || '-' || affiliate_id, version,
         jsonb_build_object('offer_id', offer_id, 'affiliate_id', affiliate_id, 'status', status,
           'terms_accepted', terms_accepted_at is not null)
    from offer_access
  union all
  select 'payout_override', id::text, version,
         jsonb_build_object('id', id, 'offer_id', offer_id, 'affiliate_id', affiliate_id, 'event_code', event_code,
           'payout_type', payout_type, 'payout', payout::text, 'revenue_type', revenue_type, 'revenue', revenue::text)
    from payout_override
  union all
  select 'tracking_domain', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'host', host, 'scheme', scheme, 'status', status,
           'is_default', is_default, 'certification', certification)
    from tracking_domain
  union all
  select 'link_key', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'key', key, 'offer_id', offer_id,
           'affiliate_id', affiliate_id)
    from link_key
  union all
  select 'smart_link', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'code', code, 'name', name, 'status', status,
           'affiliate_id', affiliate_id, 'mode', mode, 'rules', rules)
    from smart_link
  union all
  select 'traffic_source_template', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'name', name, 'traffic_source', traffic_source,
           'params', params, 'source_id', source_id, 'affiliate_ids', affiliate_ids)
    from traffic_source_template
  union all
  select 'traffic_control', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'name', name, 'status', status,
           'conditions', conditions, 'action', action, 'forward_offer_id', forward_offer_id)
    from traffic_control
  union all
  select 'blocklist_entry', id::text, version, jsonb_build_object('id', id, 'entry', entry) from blocklist_entry
  union all
  select kind, id, version, null from catalog_tombstone;
