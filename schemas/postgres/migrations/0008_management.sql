-- What the management endpoints list and look for: every list is newest first, page by page.

create index app_user_list on app_user (workspace_id, created_at desc, id desc);
create index payout_override_list on payout_override (workspace_id, created_at desc, id desc);
create index payout_override_affiliate on payout_override (affiliate_id);
create index tracking_domain_list on tracking_domain (workspace_id, created_at desc, id desc);
create index tracking_domain_assignment_list on tracking_domain_assignment (workspace_id, created_at desc, id desc);
create index link_key_list on link_key (workspace_id, created_at desc, id desc);
create index smart_link_list on smart_link (workspace_id, created_at desc, id desc);
create index traffic_source_template_list on traffic_source_template (workspace_id, created_at desc, id desc);
create index traffic_control_list on traffic_control (workspace_id, created_at desc, id desc);
create index conversion_rule_newest on conversion_rule (workspace_id, created_at desc, id desc);
create index conversion_smart_link on conversion (smart_link_id) where smart_link_id is not null;
