-- The time of the latest click of each ad-platform ID on each offer: all that a look-up by such an ID needs to know (G113). Anybody may
-- put the same ID on every click, and a look-up that reads all of them takes as long as there are clicks. Here they are one row a
-- part. The ID goes first, so that the workspaces of a shared host lie beside each other; small granules, because a look-up
-- reads one of each part. Clicks without an ID are one row an offer.
alter table click add projection if not exists latest_by_gclid
(
  select gclid, workspace_id, offer_id, max(ts) group by gclid, workspace_id, offer_id
) with settings (index_granularity = 1024);

alter table click add projection if not exists latest_by_gbraid
(
  select gbraid, workspace_id, offer_id, max(ts) group by gbraid, workspace_id, offer_id
) with settings (index_granularity = 1024);

alter table click add projection if not exists latest_by_wbraid
(
  select wbraid, workspace_id, offer_id, max(ts) group by wbraid, workspace_id, offer_id
) with settings (index_granularity = 1024);

alter table click add projection if not exists latest_by_msclkid
(
  select msclkid, workspace_id, offer_id, max(ts) group by msclkid, workspace_id, offer_id
) with settings (index_granularity = 1024);

-- Parts of before get theirs in the background; until then their rows are searched with the Bloom filters.
alter table click materialize projection latest_by_gclid;
alter table click materialize projection latest_by_gbraid;
alter table click materialize projection latest_by_wbraid;
alter table click materialize projection latest_by_msclkid;
