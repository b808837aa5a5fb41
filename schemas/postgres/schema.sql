-- What all migrations together make, to be read and never run. Written by `npm run schema:dump`; a test compares it.

CREATE TYPE conversion_plan AS (
  on_txid text,
  on_click text,
  on_none text,
  latest_of_click boolean,
  may_be_multiple boolean,
  caps jsonb,
  address_limit jsonb,
  timezone text,
  actor text,
  key_id integer,
  cause jsonb,
  names_event boolean
);

CREATE SEQUENCE catalog_version AS bigint;

CREATE SEQUENCE postback_log_number AS bigint;

CREATE TABLE ad_cost (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  date date NOT NULL,
  hour smallint,
  offer_id integer,
  advertiser_id integer,
  affiliate_id integer,
  traffic_source text NOT NULL,
  ext_campaign_id text NOT NULL,
  ext_adgroup_id text NOT NULL,
  currency text NOT NULL,
  amount numeric(18,4) NOT NULL,
  version integer NOT NULL DEFAULT 1,
  created_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT ad_cost_pkey PRIMARY KEY (id),
  CONSTRAINT ad_cost_key UNIQUE NULLS NOT DISTINCT (workspace_id, date, hour, offer_id, affiliate_id, currency, traffic_source, ext_campaign_id, ext_adgroup_id),
  CONSTRAINT ad_cost_advertiser_id_fkey FOREIGN KEY (advertiser_id) REFERENCES advertiser(id),
  CONSTRAINT ad_cost_affiliate_id_fkey FOREIGN KEY (affiliate_id) REFERENCES affiliate(id),
  CONSTRAINT ad_cost_offer_id_fkey FOREIGN KEY (offer_id) REFERENCES offer(id),
  CONSTRAINT ad_cost_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT ad_cost_amount_check CHECK (amount >= 0::numeric),
  CONSTRAINT ad_cost_date_check CHECK (date >= '1970-01-01'::date AND date <= '2099-12-31'::date),
  CONSTRAINT ad_cost_hour_check CHECK (hour >= 0 AND hour <= 23)
);
CREATE INDEX ad_cost_affiliate ON ad_cost USING btree (affiliate_id, date DESC, id DESC) WHERE affiliate_id IS NOT NULL;
CREATE INDEX ad_cost_currency ON ad_cost USING btree (workspace_id, currency, date DESC, id DESC);
CREATE INDEX ad_cost_list ON ad_cost USING btree (workspace_id, date DESC, id DESC);
CREATE INDEX ad_cost_offer ON ad_cost USING btree (offer_id, date DESC, id DESC) WHERE offer_id IS NOT NULL;
CREATE INDEX ad_cost_source ON ad_cost USING btree (workspace_id, traffic_source, date DESC, id DESC);
CREATE TRIGGER ids_are_verified BEFORE INSERT ON ad_cost FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();

CREATE TABLE ad_cost_fact_outbox (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  ad_cost_id bigint NOT NULL,
  CONSTRAINT ad_cost_fact_outbox_pkey PRIMARY KEY (id)
);

CREATE TABLE advertiser (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  name text NOT NULL,
  status text NOT NULL DEFAULT 'active'::text,
  company text NOT NULL DEFAULT ''::text,
  contact_name text NOT NULL DEFAULT ''::text,
  email text NOT NULL DEFAULT ''::text,
  phone text NOT NULL DEFAULT ''::text,
  website text NOT NULL DEFAULT ''::text,
  country text NOT NULL DEFAULT ''::text,
  notes text NOT NULL DEFAULT ''::text,
  currency text NOT NULL,
  account_manager_id integer,
  billing_terms text NOT NULL DEFAULT 'net30'::text,
  tags text[] NOT NULL DEFAULT '{}'::text[],
  postback_token text NOT NULL,
  postback_ip_allowlist text[] NOT NULL DEFAULT '{}'::text[],
  budget_caps jsonb NOT NULL DEFAULT '{}'::jsonb,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  version bigint NOT NULL DEFAULT 0,
  CONSTRAINT advertiser_pkey PRIMARY KEY (id),
  CONSTRAINT advertiser_account_manager_id_fkey FOREIGN KEY (account_manager_id) REFERENCES app_user(id),
  CONSTRAINT advertiser_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT advertiser_status_check CHECK (status = ANY (ARRAY['active'::text, 'paused'::text, 'inactive'::text]))
);
CREATE INDEX advertiser_capped ON advertiser USING btree (workspace_id, id) WHERE budget_caps <> '{}'::jsonb;
CREATE INDEX advertiser_list ON advertiser USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX advertiser_version ON advertiser USING btree (version);
CREATE TRIGGER bury AFTER DELETE ON advertiser FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('advertiser');
CREATE TRIGGER ids_are_verified BEFORE INSERT ON advertiser FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON advertiser FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE advertiser_old_token (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  advertiser_id integer NOT NULL,
  token text NOT NULL,
  good_until timestamp(3) with time zone NOT NULL,
  version bigint NOT NULL DEFAULT 0,
  CONSTRAINT advertiser_old_token_pkey PRIMARY KEY (id),
  CONSTRAINT advertiser_old_token_advertiser_id_fkey FOREIGN KEY (advertiser_id) REFERENCES advertiser(id)
);
CREATE INDEX advertiser_old_token_owner ON advertiser_old_token USING btree (advertiser_id);
CREATE INDEX advertiser_old_token_version ON advertiser_old_token USING btree (version);
CREATE TRIGGER bury AFTER DELETE ON advertiser_old_token FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('advertiser_old_token');
CREATE TRIGGER ids_are_verified BEFORE INSERT ON advertiser_old_token FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON advertiser_old_token FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE affiliate (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  code text NOT NULL,
  name text NOT NULL,
  status text NOT NULL DEFAULT 'active'::text,
  company text NOT NULL DEFAULT ''::text,
  contact_name text NOT NULL DEFAULT ''::text,
  email text NOT NULL DEFAULT ''::text,
  phone text NOT NULL DEFAULT ''::text,
  website text NOT NULL DEFAULT ''::text,
  messenger text NOT NULL DEFAULT ''::text,
  traffic_sources text NOT NULL DEFAULT ''::text,
  notes text NOT NULL DEFAULT ''::text,
  country text NOT NULL DEFAULT ''::text,
  tier text NOT NULL DEFAULT ''::text,
  manager_id integer,
  payment_method text NOT NULL DEFAULT 'other'::text,
  payment_details jsonb NOT NULL DEFAULT '{}'::jsonb,
  payment_terms text NOT NULL DEFAULT 'net30'::text,
  min_payout numeric(18,4) NOT NULL DEFAULT 0,
  currency text NOT NULL,
  tags text[] NOT NULL DEFAULT '{}'::text[],
  throttle_percent integer NOT NULL DEFAULT 0,
  hold_days numeric(10,6),
  approved_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  version bigint NOT NULL DEFAULT 0,
  CONSTRAINT affiliate_pkey PRIMARY KEY (id),
  CONSTRAINT affiliate_manager_id_fkey FOREIGN KEY (manager_id) REFERENCES app_user(id),
  CONSTRAINT affiliate_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT affiliate_payment_method_check CHECK (payment_method = ANY (ARRAY['wire'::text, 'crypto'::text, 'other'::text, 'wallet_a'::text, 'wallet_b'::text])),
  CONSTRAINT affiliate_status_check CHECK (status = ANY (ARRAY['active'::text, 'pending'::text, 'blocked'::text, 'rejected'::text])),
  CONSTRAINT affiliate_throttle_percent_check CHECK (throttle_percent >= 0 AND throttle_percent <= 100)
);
CREATE INDEX affiliate_any_code ON affiliate USING btree (lower(code));
CREATE UNIQUE INDEX affiliate_code ON affiliate USING btree (workspace_id, lower(code));
CREATE INDEX affiliate_list ON affiliate USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX affiliate_manager ON affiliate USING btree (manager_id, created_at DESC, id DESC) WHERE manager_id IS NOT NULL;
CREATE INDEX affiliate_version ON affiliate USING btree (version);
CREATE INDEX affiliate_waiting ON affiliate USING btree (workspace_id, created_at DESC, id DESC) WHERE status = 'pending'::text;
CREATE TRIGGER bury AFTER DELETE ON affiliate FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('affiliate');
CREATE TRIGGER ids_are_verified BEFORE INSERT ON affiliate FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER shared_code AFTER INSERT ON affiliate FOR EACH ROW EXECUTE FUNCTION refuse_shared_code('affiliate_code');
CREATE TRIGGER shared_code_changed AFTER UPDATE OF code ON affiliate FOR EACH ROW WHEN (lower(new.code) <> lower(old.code)) EXECUTE FUNCTION refuse_shared_code('affiliate_code');
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON affiliate FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE api_key (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  name text NOT NULL DEFAULT ''::text,
  role text NOT NULL,
  affiliate_id integer,
  advertiser_id integer,
  user_id integer,
  secret_hash bytea NOT NULL,
  permissions text[],
  ip_allowlist text[] NOT NULL DEFAULT '{}'::text[],
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT api_key_pkey PRIMARY KEY (id),
  CONSTRAINT api_key_secret_hash_key UNIQUE (secret_hash),
  CONSTRAINT api_key_advertiser_id_fkey FOREIGN KEY (advertiser_id) REFERENCES advertiser(id),
  CONSTRAINT api_key_affiliate_id_fkey FOREIGN KEY (affiliate_id) REFERENCES affiliate(id),
  CONSTRAINT api_key_user_id_fkey FOREIGN KEY (user_id) REFERENCES app_user(id),
  CONSTRAINT api_key_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT api_key_check CHECK ((role = 'partner'::text) = (affiliate_id IS NOT NULL)),
  CONSTRAINT api_key_check1 CHECK ((role = 'advertiser'::text) = (advertiser_id IS NOT NULL)),
  CONSTRAINT api_key_role_check CHECK (role = ANY (ARRAY['admin'::text, 'analyst'::text, 'partner'::text, 'advertiser'::text]))
);
CREATE INDEX api_key_advertiser ON api_key USING btree (advertiser_id, created_at DESC, id DESC) WHERE advertiser_id IS NOT NULL;
CREATE INDEX api_key_affiliate ON api_key USING btree (affiliate_id, created_at DESC, id DESC) WHERE affiliate_id IS NOT NULL;
CREATE INDEX api_key_list ON api_key USING btree (workspace_id, created_at DESC, id DESC);
CREATE TRIGGER ids_are_verified BEFORE INSERT ON api_key FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();

CREATE TABLE app_user (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  name text NOT NULL,
  email text NOT NULL DEFAULT ''::text,
  status text NOT NULL DEFAULT 'active'::text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT app_user_pkey PRIMARY KEY (id),
  CONSTRAINT app_user_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT app_user_status_check CHECK (status = ANY (ARRAY['active'::text, 'inactive'::text]))
);
CREATE INDEX app_user_list ON app_user USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX app_user_workspace ON app_user USING btree (workspace_id, id);
CREATE TRIGGER ids_are_verified BEFORE INSERT ON app_user FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();

CREATE TABLE audit_log (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  ts timestamp(3) with time zone NOT NULL DEFAULT now(),
  key_id integer,
  user_name text NOT NULL DEFAULT ''::text,
  action text NOT NULL,
  ip inet,
  status integer NOT NULL,
  request_id text NOT NULL,
  person_id integer,
  CONSTRAINT audit_log_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_log_age ON audit_log USING brin (ts);
CREATE INDEX audit_log_key ON audit_log USING btree (key_id, ts DESC, id DESC) WHERE key_id IS NOT NULL;
CREATE INDEX audit_log_list ON audit_log USING btree (workspace_id, ts DESC, id DESC);

CREATE TABLE backup_note (
  store text NOT NULL,
  backed_up_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT backup_note_pkey PRIMARY KEY (store),
  CONSTRAINT backup_note_store_check CHECK (store = ANY (ARRAY['postgres'::text, 'clickhouse'::text]))
);

CREATE TABLE blocklist_entry (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  entry text NOT NULL,
  version bigint NOT NULL DEFAULT 0,
  CONSTRAINT blocklist_entry_pkey PRIMARY KEY (id),
  CONSTRAINT blocklist_entry_entry_key UNIQUE (entry)
);
CREATE INDEX blocklist_entry_version ON blocklist_entry USING btree (version);
CREATE TRIGGER bury AFTER DELETE ON blocklist_entry FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('blocklist_entry');
CREATE TRIGGER ids_are_verified BEFORE INSERT ON blocklist_entry FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON blocklist_entry FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE cap_click_money (
  cap text NOT NULL,
  bucket_start timestamp with time zone NOT NULL,
  offer_id integer NOT NULL,
  amount numeric(22,4) NOT NULL,
  CONSTRAINT cap_click_money_pkey PRIMARY KEY (cap, bucket_start, offer_id)
) WITH (fillfactor=50);
CREATE INDEX cap_click_money_age ON cap_click_money USING btree (bucket_start) WHERE bucket_start > '-infinity'::timestamp with time zone;

CREATE TABLE cap_counter (
  cap text NOT NULL,
  bucket_start timestamp with time zone NOT NULL,
  used numeric(22,4) NOT NULL DEFAULT 0,
  refused_limit numeric(22,4),
  CONSTRAINT cap_counter_pkey PRIMARY KEY (cap, bucket_start)
) WITH (fillfactor=50);
CREATE INDEX cap_counter_age ON cap_counter USING btree (bucket_start) WHERE bucket_start > '-infinity'::timestamp with time zone;

CREATE TABLE catalog_log (
  version bigint NOT NULL,
  mark uuid NOT NULL DEFAULT gen_random_uuid(),
  logged_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT catalog_log_pkey PRIMARY KEY (version)
);

CREATE TABLE catalog_tombstone (
  kind text NOT NULL,
  id text NOT NULL,
  version bigint NOT NULL,
  CONSTRAINT catalog_tombstone_pkey PRIMARY KEY (kind, id)
);
CREATE INDEX catalog_tombstone_version ON catalog_tombstone USING btree (version);

CREATE TABLE challenge (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  kind text NOT NULL,
  value jsonb NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT challenge_pkey PRIMARY KEY (id)
);

CREATE TABLE click_left_shard (
  lane integer NOT NULL,
  shard text NOT NULL,
  producer integer NOT NULL,
  epoch bigint NOT NULL,
  ranges jsonb NOT NULL,
  left_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT click_left_shard_pkey PRIMARY KEY (lane, shard, producer, epoch)
);

CREATE TABLE click_lost (
  lane integer NOT NULL,
  producer integer NOT NULL,
  epoch bigint NOT NULL,
  from_position bigint NOT NULL,
  to_position bigint NOT NULL,
  reason text NOT NULL,
  noted_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT click_lost_pkey PRIMARY KEY (lane, producer, epoch, from_position),
  CONSTRAINT click_lost_check CHECK (to_position > from_position),
  CONSTRAINT click_lost_reason_check CHECK (reason = ANY (ARRAY['declared'::text, 'unreadable'::text, 'passed on'::text]))
);

CREATE TABLE click_producer (
  lane integer NOT NULL,
  producer integer NOT NULL,
  epoch bigint NOT NULL,
  said_ms bigint NOT NULL,
  CONSTRAINT click_producer_pkey PRIMARY KEY (lane, producer, epoch)
);
CREATE INDEX click_producer_number ON click_producer USING btree (producer);

CREATE TABLE click_stored (
  lane integer NOT NULL,
  producer integer NOT NULL,
  epoch bigint NOT NULL,
  settled bigint NOT NULL,
  noted_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT click_stored_pkey PRIMARY KEY (lane, producer, epoch)
);

CREATE TABLE code_alias (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  kind text NOT NULL GENERATED ALWAYS AS (
CASE
    WHEN offer_id IS NOT NULL THEN 'offer'::text
    WHEN affiliate_id IS NOT NULL THEN 'affiliate'::text
    ELSE 'smart_link'::text
END) STORED,
  alias text NOT NULL,
  offer_id integer,
  affiliate_id integer,
  smart_link_id integer,
  target_id integer NOT NULL GENERATED ALWAYS AS (COALESCE(offer_id, affiliate_id, smart_link_id)) STORED,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  version bigint NOT NULL DEFAULT 0,
  CONSTRAINT code_alias_pkey PRIMARY KEY (id),
  CONSTRAINT code_alias_affiliate_id_fkey FOREIGN KEY (affiliate_id) REFERENCES affiliate(id),
  CONSTRAINT code_alias_offer_id_fkey FOREIGN KEY (offer_id) REFERENCES offer(id),
  CONSTRAINT code_alias_smart_link_id_fkey FOREIGN KEY (smart_link_id) REFERENCES smart_link(id),
  CONSTRAINT code_alias_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT code_alias_alias_check CHECK (alias ~ '^[A-Za-z0-9._~-]{1,64}$'::text),
  CONSTRAINT code_alias_check CHECK (num_nonnulls(offer_id, affiliate_id, smart_link_id) = 1)
);
CREATE UNIQUE INDEX code_alias_alias ON code_alias USING btree (workspace_id, kind, lower(alias));
CREATE INDEX code_alias_list ON code_alias USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX code_alias_target ON code_alias USING btree (target_id, created_at DESC, id DESC);
CREATE INDEX code_alias_version ON code_alias USING btree (version);
CREATE TRIGGER bury AFTER DELETE ON code_alias FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('code_alias');
CREATE TRIGGER ids_are_verified BEFORE INSERT ON code_alias FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON code_alias FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE conversion (
  id uuid NOT NULL,
  workspace_id integer NOT NULL,
  click_id text,
  offer_id integer NOT NULL,
  affiliate_id integer,
  advertiser_id integer NOT NULL,
  smart_link_id integer,
  event_id integer NOT NULL,
  event_code text NOT NULL,
  is_private boolean NOT NULL,
  status text NOT NULL,
  status_reason text NOT NULL DEFAULT ''::text,
  is_duplicate boolean NOT NULL DEFAULT false,
  cap_alert boolean NOT NULL DEFAULT false,
  revenue numeric(18,4) NOT NULL,
  payout numeric(18,4) NOT NULL,
  sale_amount numeric(18,4) NOT NULL DEFAULT 0,
  currency text NOT NULL,
  payout_type text NOT NULL,
  payout_rate numeric(18,4) NOT NULL,
  payout_given boolean NOT NULL DEFAULT false,
  revenue_type text NOT NULL,
  revenue_rate numeric(18,4) NOT NULL,
  revenue_given boolean NOT NULL DEFAULT false,
  adv_txid text,
  method text NOT NULL,
  click_ts timestamp(3) with time zone,
  conv_ts timestamp(3) with time zone NOT NULL,
  hold_until timestamp(3) with time zone,
  click jsonb NOT NULL DEFAULT '{}'::jsonb,
  conv_ip inet,
  params jsonb NOT NULL DEFAULT '{}'::jsonb,
  notes text NOT NULL DEFAULT ''::text,
  email_hash text,
  phone_hash text,
  version integer NOT NULL DEFAULT 1,
  holds_click boolean NOT NULL,
  holds_txid boolean NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  report_fingerprint bytea,
  change_fingerprint bytea,
  asked_status text,
  holds_event_txid boolean NOT NULL DEFAULT false,
  CONSTRAINT conversion_pkey PRIMARY KEY (id),
  CONSTRAINT conversion_advertiser_id_fkey FOREIGN KEY (advertiser_id) REFERENCES advertiser(id),
  CONSTRAINT conversion_affiliate_id_fkey FOREIGN KEY (affiliate_id) REFERENCES affiliate(id),
  CONSTRAINT conversion_offer_id_fkey FOREIGN KEY (offer_id) REFERENCES offer(id),
  CONSTRAINT conversion_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT conversion_asked_status_check CHECK (asked_status = ANY (ARRAY['approved'::text, 'pending'::text, 'rejected'::text])),
  CONSTRAINT conversion_method_check CHECK (method = ANY (ARRAY['s2s'::text, 'api'::text, 'js'::text, 'pixel'::text])),
  CONSTRAINT conversion_status_check CHECK (status = ANY (ARRAY['approved'::text, 'pending'::text, 'rejected'::text]))
);
CREATE INDEX conversion_advertiser ON conversion USING btree (advertiser_id, conv_ts DESC, id DESC);
CREATE INDEX conversion_affiliate ON conversion USING btree (affiliate_id, conv_ts DESC, id DESC);
CREATE INDEX conversion_alerted ON conversion USING btree (workspace_id, conv_ts DESC, id DESC) WHERE cap_alert;
CREATE INDEX conversion_by_click ON conversion USING btree (click_id);
CREATE INDEX conversion_by_email ON conversion USING btree (workspace_id, email_hash, conv_ts DESC) WHERE email_hash IS NOT NULL;
CREATE INDEX conversion_by_ip ON conversion USING btree (workspace_id, conv_ip) WHERE conv_ip IS NOT NULL;
CREATE UNIQUE INDEX conversion_click_event ON conversion USING btree (click_id, event_code) WHERE holds_click;
CREATE INDEX conversion_described ON conversion USING btree (conv_ts) WHERE conv_ip IS NOT NULL OR email_hash IS NOT NULL OR phone_hash IS NOT NULL OR click ?| ARRAY['gclid'::text, 'gbraid'::text, 'wbraid'::text, 'msclkid'::text, 'fbclid'::text, 'ttclid'::text];
CREATE INDEX conversion_held ON conversion USING btree (hold_until) WHERE hold_until IS NOT NULL AND status = 'pending'::text;
CREATE INDEX conversion_list ON conversion USING btree (workspace_id, conv_ts DESC, id DESC);
CREATE INDEX conversion_of_event ON conversion USING btree (offer_id, event_code) WHERE event_code <> 'default'::text;
CREATE INDEX conversion_offer ON conversion USING btree (offer_id, conv_ts DESC, id DESC);
CREATE UNIQUE INDEX conversion_offer_txid ON conversion USING btree (offer_id, adv_txid) WHERE holds_txid;
CREATE INDEX conversion_smart_link ON conversion USING btree (smart_link_id) WHERE smart_link_id IS NOT NULL;
CREATE INDEX conversion_txid ON conversion USING btree (workspace_id, adv_txid, conv_ts DESC, id DESC) WHERE adv_txid IS NOT NULL;
CREATE INDEX conversion_waiting ON conversion USING btree (workspace_id, conv_ts DESC, id DESC) INCLUDE (status_reason) WHERE status = 'pending'::text;

CREATE TABLE conversion_address (
  offer_id integer NOT NULL,
  network inet NOT NULL,
  address inet NOT NULL,
  conv_ts timestamp(3) with time zone NOT NULL,
  conversion_id uuid NOT NULL
);
CREATE INDEX conversion_address_age ON conversion_address USING brin (conv_ts);
CREATE INDEX conversion_address_network ON conversion_address USING btree (offer_id, network, conv_ts);

CREATE TABLE conversion_fact_outbox (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  conversion_id uuid NOT NULL,
  CONSTRAINT conversion_fact_outbox_pkey PRIMARY KEY (id)
);

CREATE TABLE conversion_history (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  conversion_id uuid NOT NULL,
  at timestamp(3) with time zone NOT NULL DEFAULT now(),
  actor text NOT NULL,
  key_id integer,
  from_status text,
  to_status text NOT NULL,
  reason text NOT NULL DEFAULT ''::text,
  from_revenue numeric(18,4),
  to_revenue numeric(18,4) NOT NULL,
  from_payout numeric(18,4),
  to_payout numeric(18,4) NOT NULL,
  from_sale_amount numeric(18,4),
  to_sale_amount numeric(18,4) NOT NULL,
  person_id integer,
  CONSTRAINT conversion_history_pkey PRIMARY KEY (id)
);
CREATE INDEX conversion_history_conversion ON conversion_history USING btree (conversion_id, id);

CREATE TABLE conversion_rule (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  name text NOT NULL,
  "position" integer NOT NULL DEFAULT 0,
  status text NOT NULL DEFAULT 'active'::text,
  action text NOT NULL,
  conditions jsonb NOT NULL DEFAULT '{}'::jsonb,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  version bigint NOT NULL DEFAULT 0,
  CONSTRAINT conversion_rule_pkey PRIMARY KEY (id),
  CONSTRAINT conversion_rule_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT conversion_rule_action_check CHECK (action = ANY (ARRAY['reject'::text, 'hold'::text])),
  CONSTRAINT conversion_rule_status_check CHECK (status = ANY (ARRAY['active'::text, 'paused'::text]))
);
CREATE INDEX conversion_rule_list ON conversion_rule USING btree (workspace_id, "position", id);
CREATE INDEX conversion_rule_newest ON conversion_rule USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX conversion_rule_version ON conversion_rule USING btree (version);
CREATE TRIGGER bury AFTER DELETE ON conversion_rule FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('conversion_rule');
CREATE TRIGGER ids_are_verified BEFORE INSERT ON conversion_rule FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON conversion_rule FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE coupon (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  code text NOT NULL,
  offer_id integer,
  affiliate_id integer NOT NULL,
  status text NOT NULL DEFAULT 'active'::text,
  starts_at timestamp(3) with time zone,
  ends_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  version bigint NOT NULL DEFAULT 0,
  CONSTRAINT coupon_pkey PRIMARY KEY (id),
  CONSTRAINT coupon_offer_id_fkey FOREIGN KEY (offer_id) REFERENCES offer(id),
  CONSTRAINT coupon_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT coupon_code_check CHECK (code <> ''::text),
  CONSTRAINT coupon_status_check CHECK (status = ANY (ARRAY['active'::text, 'inactive'::text]))
);
CREATE INDEX coupon_affiliate ON coupon USING btree (affiliate_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX coupon_code ON coupon USING btree (workspace_id, lower(code));
CREATE INDEX coupon_exact_code ON coupon USING btree (workspace_id, code);
CREATE INDEX coupon_list ON coupon USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX coupon_offer ON coupon USING btree (offer_id, created_at DESC, id DESC) WHERE offer_id IS NOT NULL;
CREATE INDEX coupon_version ON coupon USING btree (version);
CREATE TRIGGER bury AFTER DELETE ON coupon FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('coupon');
CREATE TRIGGER ids_are_verified BEFORE INSERT ON coupon FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON coupon FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE coupon_click (
  click_id text NOT NULL,
  conversion_id uuid NOT NULL,
  click jsonb NOT NULL,
  producer integer NOT NULL,
  until_ms bigint NOT NULL,
  due_at timestamp(3) with time zone NOT NULL DEFAULT (clock_timestamp() + '00:00:02'::interval),
  CONSTRAINT coupon_click_pkey PRIMARY KEY (click_id)
);
CREATE INDEX coupon_click_due ON coupon_click USING btree (due_at);
CREATE INDEX coupon_click_producer ON coupon_click USING btree (producer);

CREATE TABLE coupon_click_passed (
  click_id text NOT NULL,
  producer integer NOT NULL,
  added_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT coupon_click_passed_pkey PRIMARY KEY (click_id, producer)
);
CREATE INDEX coupon_click_passed_added ON coupon_click_passed USING btree (added_at);

CREATE TABLE creative (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  offer_id integer NOT NULL,
  name text NOT NULL,
  kind text NOT NULL DEFAULT 'image'::text,
  url text NOT NULL DEFAULT ''::text,
  body text NOT NULL DEFAULT ''::text,
  width integer NOT NULL DEFAULT 0,
  height integer NOT NULL DEFAULT 0,
  status text NOT NULL DEFAULT 'active'::text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT creative_pkey PRIMARY KEY (id),
  CONSTRAINT creative_offer_id_fkey FOREIGN KEY (offer_id) REFERENCES offer(id),
  CONSTRAINT creative_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT creative_height_check CHECK (height >= 0),
  CONSTRAINT creative_kind_check CHECK (kind = ANY (ARRAY['image'::text, 'html'::text, 'text'::text, 'link'::text, 'email'::text])),
  CONSTRAINT creative_status_check CHECK (status = ANY (ARRAY['active'::text, 'inactive'::text])),
  CONSTRAINT creative_width_check CHECK (width >= 0)
);
CREATE INDEX creative_list ON creative USING btree (offer_id, created_at DESC, id DESC);
CREATE TRIGGER ids_are_verified BEFORE INSERT ON creative FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();

CREATE TABLE deal (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  advertiser_id integer NOT NULL,
  offer_id integer,
  title text NOT NULL,
  description text NOT NULL DEFAULT ''::text,
  coupon_code text NOT NULL DEFAULT ''::text,
  landing_url text NOT NULL DEFAULT ''::text,
  starts_at timestamp(3) with time zone,
  ends_at timestamp(3) with time zone,
  status text NOT NULL DEFAULT 'active'::text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT deal_pkey PRIMARY KEY (id),
  CONSTRAINT deal_advertiser_id_fkey FOREIGN KEY (advertiser_id) REFERENCES advertiser(id),
  CONSTRAINT deal_offer_id_fkey FOREIGN KEY (offer_id) REFERENCES offer(id),
  CONSTRAINT deal_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT deal_status_check CHECK (status = ANY (ARRAY['active'::text, 'inactive'::text]))
);
CREATE INDEX deal_advertiser ON deal USING btree (advertiser_id);
CREATE INDEX deal_list ON deal USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX deal_offer ON deal USING btree (offer_id);
CREATE TRIGGER ids_are_verified BEFORE INSERT ON deal FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();

CREATE TABLE delivery (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  workspace_id integer NOT NULL,
  kind text NOT NULL,
  endpoint_id integer NOT NULL,
  destination text NOT NULL,
  conversion_id uuid,
  trigger text NOT NULL DEFAULT ''::text,
  event text NOT NULL DEFAULT ''::text,
  event_id uuid,
  facts jsonb NOT NULL,
  status text NOT NULL DEFAULT 'pending'::text,
  attempts integer NOT NULL DEFAULT 0,
  due_at timestamp(3) with time zone DEFAULT clock_timestamp(),
  lease_token uuid,
  url text NOT NULL DEFAULT ''::text,
  error text NOT NULL DEFAULT ''::text,
  response_status integer,
  response_body text NOT NULL DEFAULT ''::text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp(),
  finished_at timestamp(3) with time zone,
  request_id text,
  traceparent text,
  CONSTRAINT delivery_pkey PRIMARY KEY (id),
  CONSTRAINT delivery_kind_check CHECK (kind = ANY (ARRAY['postback'::text, 'webhook'::text])),
  CONSTRAINT delivery_status_check CHECK (status = ANY (ARRAY['pending'::text, 'delivered'::text, 'retrying'::text, 'failed'::text]))
) WITH (autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX delivery_conversion ON delivery USING btree (conversion_id) WHERE conversion_id IS NOT NULL;
CREATE INDEX delivery_finished ON delivery USING btree (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX delivery_list ON delivery USING btree (kind, endpoint_id, created_at DESC, id DESC);
CREATE INDEX delivery_queue ON delivery USING btree (destination, kind, endpoint_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX delivery_trouble ON delivery USING btree (kind, endpoint_id, created_at DESC, id DESC) WHERE status = ANY (ARRAY['retrying'::text, 'failed'::text]);

CREATE TABLE delivery_hold (
  id integer NOT NULL DEFAULT 1,
  held_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  reason text NOT NULL,
  CONSTRAINT delivery_hold_pkey PRIMARY KEY (id),
  CONSTRAINT delivery_hold_id_check CHECK (id = 1)
);

CREATE TABLE erased_click (
  erasure_id bigint NOT NULL,
  click_id text NOT NULL,
  added_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT erased_click_pkey PRIMARY KEY (erasure_id, click_id),
  CONSTRAINT erased_click_erasure_id_fkey FOREIGN KEY (erasure_id) REFERENCES erasure(id)
);
CREATE INDEX erased_click_added ON erased_click USING btree (added_at);
CREATE INDEX erased_click_id ON erased_click USING btree (click_id);

CREATE TABLE erasure (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  kind text NOT NULL,
  subject text[] NOT NULL,
  at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp(),
  repeats integer NOT NULL DEFAULT 0,
  repeat_at timestamp(3) with time zone,
  CONSTRAINT erasure_pkey PRIMARY KEY (id),
  CONSTRAINT erasure_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT erasure_kind_check CHECK (kind = ANY (ARRAY['click'::text, 'email'::text, 'ip'::text]))
);
CREATE INDEX erasure_due ON erasure USING btree (repeat_at) WHERE repeat_at IS NOT NULL;
CREATE INDEX erasure_recent ON erasure USING btree (at);

CREATE TABLE erasure_lease (
  id integer NOT NULL,
  token uuid,
  expires_at timestamp(3) with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  CONSTRAINT erasure_lease_pkey PRIMARY KEY (id),
  CONSTRAINT erasure_lease_id_check CHECK (id = 1)
);

CREATE TABLE event_order (
  offer_id integer NOT NULL,
  adv_txid text NOT NULL,
  event_code text NOT NULL,
  conversion_id uuid NOT NULL,
  CONSTRAINT event_order_pkey PRIMARY KEY (offer_id, adv_txid, event_code)
);

CREATE TABLE fact_audit (
  scope text NOT NULL,
  run integer NOT NULL DEFAULT 0,
  finished_run integer NOT NULL DEFAULT 0,
  begun_at timestamp(3) with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  finished_at timestamp(3) with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  "position" jsonb,
  found bigint NOT NULL DEFAULT 0,
  CONSTRAINT fact_audit_pkey PRIMARY KEY (scope)
);

CREATE TABLE fact_mark (
  id smallint NOT NULL,
  confirmed_number bigint NOT NULL,
  confirmed_token text NOT NULL,
  pending_number bigint NOT NULL,
  pending_token text NOT NULL,
  CONSTRAINT fact_mark_pkey PRIMARY KEY (id),
  CONSTRAINT fact_mark_id_check CHECK (id = 1)
);

CREATE TABLE fact_relay_lease (
  id integer NOT NULL DEFAULT 1,
  owner text NOT NULL DEFAULT ''::text,
  expires_at timestamp(3) with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  CONSTRAINT fact_relay_lease_pkey PRIMARY KEY (id),
  CONSTRAINT fact_relay_lease_id_check CHECK (id = 1)
);

CREATE TABLE fact_store_start (
  server text NOT NULL,
  started_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT fact_store_start_pkey PRIMARY KEY (server)
);

CREATE TABLE fx_feed (
  id boolean NOT NULL DEFAULT true,
  source text NOT NULL,
  attempted_at timestamp with time zone,
  succeeded_at timestamp with time zone,
  newest_day date,
  error text NOT NULL DEFAULT ''::text,
  CONSTRAINT fx_feed_pkey PRIMARY KEY (id),
  CONSTRAINT fx_feed_id_check CHECK (id)
);

CREATE TABLE fx_rate (
  date date NOT NULL,
  currency text NOT NULL,
  rate numeric(24,10) NOT NULL,
  source text NOT NULL DEFAULT 'manual'::text,
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT fx_rate_pkey PRIMARY KEY (date, currency),
  CONSTRAINT fx_rate_rate_check CHECK (rate > 0::numeric)
);
CREATE INDEX fx_rate_currency ON fx_rate USING btree (currency, date DESC);

CREATE TABLE import (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  key_id integer,
  person_id integer,
  membership_id integer,
  created_by text NOT NULL,
  is_fresh boolean NOT NULL,
  request_id text NOT NULL,
  kind text NOT NULL,
  name text NOT NULL,
  format text NOT NULL,
  delimiter text NOT NULL,
  is_dry_run boolean NOT NULL,
  is_update boolean NOT NULL,
  skips_faulty boolean NOT NULL,
  status text NOT NULL,
  message text NOT NULL DEFAULT ''::text,
  bytes integer NOT NULL DEFAULT 0,
  parts integer NOT NULL DEFAULT 0,
  record_id text NOT NULL DEFAULT ''::text,
  faults jsonb NOT NULL DEFAULT '[]'::jsonb,
  rows_checked integer NOT NULL DEFAULT 0,
  rows_faulty integer NOT NULL DEFAULT 0,
  rows_to_create integer NOT NULL DEFAULT 0,
  rows_to_update integer NOT NULL DEFAULT 0,
  rows_already_written integer NOT NULL DEFAULT 0,
  rows_created integer NOT NULL DEFAULT 0,
  rows_updated integer NOT NULL DEFAULT 0,
  rows_left_out integer NOT NULL DEFAULT 0,
  last_row integer NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  lease_token uuid,
  leased_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  started_at timestamp(3) with time zone,
  ended_at timestamp(3) with time zone,
  CONSTRAINT import_pkey PRIMARY KEY (id),
  CONSTRAINT import_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id),
  CONSTRAINT import_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id),
  CONSTRAINT import_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT import_check CHECK (num_nonnulls(person_id, key_id) = 1),
  CONSTRAINT import_format_check CHECK (format = ANY (ARRAY['csv'::text, 'json'::text])),
  CONSTRAINT import_kind_check CHECK (kind = ANY (ARRAY['offers'::text, 'affiliates'::text, 'advertisers'::text])),
  CONSTRAINT import_status_check CHECK (status = ANY (ARRAY['uploading'::text, 'queued'::text, 'checking'::text, 'writing'::text, 'done'::text, 'refused'::text, 'failed'::text, 'stopped'::text]))
);
CREATE INDEX import_ended ON import USING btree (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX import_list ON import USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX import_of_key ON import USING btree (key_id) WHERE key_id IS NOT NULL;
CREATE INDEX import_of_person ON import USING btree (person_id) WHERE person_id IS NOT NULL;
CREATE UNIQUE INDEX import_once ON import USING btree (workspace_id, record_id, format, delimiter, is_dry_run, skips_faulty) WHERE status = ANY (ARRAY['queued'::text, 'checking'::text, 'writing'::text]);
CREATE INDEX import_unfinished ON import USING btree (id) WHERE ended_at IS NULL;
CREATE TRIGGER ids_are_verified BEFORE INSERT ON import FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();

CREATE TABLE import_part (
  import_id integer NOT NULL,
  number integer NOT NULL,
  bytes bytea NOT NULL,
  CONSTRAINT import_part_pkey PRIMARY KEY (import_id, number),
  CONSTRAINT import_part_import_id_fkey FOREIGN KEY (import_id) REFERENCES import(id) ON DELETE CASCADE
);

CREATE TABLE ingress_producer (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY (MAXVALUE 65535),
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  host text NOT NULL DEFAULT ''::text,
  nonce text,
  run text,
  run_epoch bigint,
  run_at timestamp(3) with time zone,
  contested_at timestamp(3) with time zone,
  given_up_at timestamp(3) with time zone,
  given_up_from_ms bigint,
  quiet_since timestamp(3) with time zone,
  free_at timestamp(3) with time zone,
  free_above bigint,
  CONSTRAINT ingress_producer_pkey PRIMARY KEY (id)
);
CREATE INDEX ingress_producer_free ON ingress_producer USING btree (free_at, id) WHERE free_at IS NOT NULL;

CREATE TABLE installation (
  id integer NOT NULL DEFAULT 1,
  secret text NOT NULL DEFAULT encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'hex'::text),
  version bigint NOT NULL DEFAULT 0,
  incarnation uuid NOT NULL DEFAULT gen_random_uuid(),
  lanes integer NOT NULL DEFAULT 4,
  CONSTRAINT installation_pkey PRIMARY KEY (id),
  CONSTRAINT installation_id_check CHECK (id = 1),
  CONSTRAINT installation_lanes_check CHECK (lanes = ANY (ARRAY[4, 8, 16, 32, 64]))
);
CREATE INDEX installation_version ON installation USING btree (version);
CREATE TRIGGER bury AFTER DELETE ON installation FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('installation');
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON installation FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE lane_lease (
  lane integer NOT NULL,
  owner text NOT NULL DEFAULT ''::text,
  epoch bigint NOT NULL DEFAULT 0,
  expires_at timestamp(3) with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  intent jsonb,
  intent_epoch bigint,
  home text,
  lanes integer NOT NULL DEFAULT 4,
  parent integer,
  shard text,
  move_to text,
  CONSTRAINT lane_lease_pkey PRIMARY KEY (lane)
) WITH (fillfactor=30, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);

CREATE TABLE lane_writer (
  owner text NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT lane_writer_pkey PRIMARY KEY (owner)
);

CREATE TABLE link_key (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  key text NOT NULL,
  offer_id integer NOT NULL,
  affiliate_id integer NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  version bigint NOT NULL DEFAULT 0,
  CONSTRAINT link_key_pkey PRIMARY KEY (id),
  CONSTRAINT link_key_key_key UNIQUE (key),
  CONSTRAINT link_key_affiliate_id_fkey FOREIGN KEY (affiliate_id) REFERENCES affiliate(id),
  CONSTRAINT link_key_offer_id_fkey FOREIGN KEY (offer_id) REFERENCES offer(id),
  CONSTRAINT link_key_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id)
);
CREATE INDEX link_key_affiliate ON link_key USING btree (affiliate_id, created_at DESC, id DESC);
CREATE INDEX link_key_list ON link_key USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX link_key_offer ON link_key USING btree (offer_id, created_at DESC, id DESC);
CREATE INDEX link_key_version ON link_key USING btree (version);
CREATE TRIGGER bury AFTER DELETE ON link_key FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('link_key');
CREATE TRIGGER ids_are_verified BEFORE INSERT ON link_key FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON link_key FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE membership (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  person_id integer NOT NULL,
  workspace_id integer NOT NULL,
  role text NOT NULL,
  affiliate_id integer,
  advertiser_id integer,
  user_id integer,
  permissions text[],
  status text NOT NULL DEFAULT 'active'::text,
  version integer NOT NULL DEFAULT 1,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT membership_pkey PRIMARY KEY (id),
  CONSTRAINT membership_person_id_workspace_id_affiliate_id_advertiser_i_key UNIQUE NULLS NOT DISTINCT (person_id, workspace_id, affiliate_id, advertiser_id),
  CONSTRAINT membership_advertiser_id_fkey FOREIGN KEY (advertiser_id) REFERENCES advertiser(id),
  CONSTRAINT membership_affiliate_id_fkey FOREIGN KEY (affiliate_id) REFERENCES affiliate(id),
  CONSTRAINT membership_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id),
  CONSTRAINT membership_user_id_fkey FOREIGN KEY (user_id) REFERENCES app_user(id),
  CONSTRAINT membership_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT membership_check CHECK ((role = 'partner'::text) = (affiliate_id IS NOT NULL)),
  CONSTRAINT membership_check1 CHECK ((role = 'advertiser'::text) = (advertiser_id IS NOT NULL)),
  CONSTRAINT membership_role_check CHECK (role = ANY (ARRAY['admin'::text, 'analyst'::text, 'partner'::text, 'advertiser'::text])),
  CONSTRAINT membership_status_check CHECK (status = ANY (ARRAY['active'::text, 'inactive'::text]))
);
CREATE INDEX membership_list ON membership USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX membership_of_advertiser ON membership USING btree (advertiser_id, created_at DESC, id DESC) WHERE advertiser_id IS NOT NULL;
CREATE INDEX membership_of_affiliate ON membership USING btree (affiliate_id, created_at DESC, id DESC) WHERE affiliate_id IS NOT NULL;
CREATE TRIGGER ids_are_verified BEFORE INSERT ON membership FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();

CREATE TABLE offer (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  advertiser_id integer NOT NULL,
  code text NOT NULL,
  name text NOT NULL,
  status text NOT NULL DEFAULT 'active'::text,
  visibility text NOT NULL DEFAULT 'public'::text,
  category text NOT NULL DEFAULT ''::text,
  description text NOT NULL DEFAULT ''::text,
  restrictions text NOT NULL DEFAULT ''::text,
  preview_url text NOT NULL DEFAULT ''::text,
  destination_url text NOT NULL,
  fallback_url text NOT NULL DEFAULT ''::text,
  allowed_domains text[] NOT NULL DEFAULT '{}'::text[],
  currency text NOT NULL,
  revenue_type text NOT NULL DEFAULT 'rpa'::text,
  revenue numeric(18,4) NOT NULL DEFAULT 0,
  payout_type text NOT NULL DEFAULT 'cpa'::text,
  payout numeric(18,4) NOT NULL DEFAULT 0,
  caps jsonb NOT NULL DEFAULT '{}'::jsonb,
  targeting jsonb NOT NULL DEFAULT '{}'::jsonb,
  conversion_method text NOT NULL DEFAULT 'any'::text,
  unique_per_click boolean NOT NULL DEFAULT true,
  attribution_days integer NOT NULL DEFAULT 30,
  default_status text NOT NULL DEFAULT 'approved'::text,
  thumbnail_url text NOT NULL DEFAULT ''::text,
  tags text[] NOT NULL DEFAULT '{}'::text[],
  is_featured boolean NOT NULL DEFAULT false,
  hold_days numeric(10,6) NOT NULL DEFAULT 0,
  min_seconds_to_conversion integer NOT NULL DEFAULT 0,
  duplicate_click_seconds integer NOT NULL DEFAULT 0,
  unique_click_hours integer NOT NULL DEFAULT 24,
  fraud_checks jsonb,
  terms text,
  fail_route_offer_id integer,
  deleted_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  version bigint NOT NULL DEFAULT 0,
  access_questions jsonb NOT NULL DEFAULT '[]'::jsonb,
  auto_approve_tiers text[] NOT NULL DEFAULT '{}'::text[],
  reapply_days integer NOT NULL DEFAULT 30,
  txid_scope text NOT NULL DEFAULT 'offer'::text,
  pass_parameters text NOT NULL DEFAULT 'none'::text,
  CONSTRAINT offer_pkey PRIMARY KEY (id),
  CONSTRAINT offer_advertiser_id_fkey FOREIGN KEY (advertiser_id) REFERENCES advertiser(id),
  CONSTRAINT offer_fail_route_offer_id_fkey FOREIGN KEY (fail_route_offer_id) REFERENCES offer(id),
  CONSTRAINT offer_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT offer_attribution_days_check CHECK (attribution_days > 0),
  CONSTRAINT offer_conversion_method_check CHECK (conversion_method = ANY (ARRAY['any'::text, 'pixel'::text, 's2s'::text])),
  CONSTRAINT offer_default_status_check CHECK (default_status = ANY (ARRAY['approved'::text, 'pending'::text])),
  CONSTRAINT offer_duplicate_click_seconds_check CHECK (duplicate_click_seconds >= 0),
  CONSTRAINT offer_hold_days_check CHECK (hold_days >= 0::numeric),
  CONSTRAINT offer_min_seconds_to_conversion_check CHECK (min_seconds_to_conversion >= 0),
  CONSTRAINT offer_pass_parameters_check CHECK (pass_parameters = ANY (ARRAY['none'::text, 'utm'::text, 'all'::text])),
  CONSTRAINT offer_payout_check CHECK (payout >= 0::numeric),
  CONSTRAINT offer_payout_type_check CHECK (payout_type = ANY (ARRAY['cpa'::text, 'cps'::text, 'cpc'::text])),
  CONSTRAINT offer_reapply_days_check CHECK (reapply_days >= 0),
  CONSTRAINT offer_revenue_check CHECK (revenue >= 0::numeric),
  CONSTRAINT offer_revenue_type_check CHECK (revenue_type = ANY (ARRAY['rpa'::text, 'rps'::text, 'rpc'::text])),
  CONSTRAINT offer_status_check CHECK (status = ANY (ARRAY['active'::text, 'paused'::text])),
  CONSTRAINT offer_txid_scope_check CHECK (txid_scope = ANY (ARRAY['offer'::text, 'event'::text])),
  CONSTRAINT offer_unique_click_hours_check CHECK (unique_click_hours > 0),
  CONSTRAINT offer_visibility_check CHECK (visibility = ANY (ARRAY['public'::text, 'approval'::text, 'private'::text]))
);
CREATE INDEX offer_advertiser ON offer USING btree (advertiser_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX offer_any_code ON offer USING btree (lower(code)) WHERE deleted_at IS NULL;
CREATE INDEX offer_capped ON offer USING btree (workspace_id, id) WHERE caps <> '{}'::jsonb AND deleted_at IS NULL;
CREATE UNIQUE INDEX offer_code ON offer USING btree (workspace_id, lower(code)) WHERE deleted_at IS NULL;
CREATE INDEX offer_list ON offer USING btree (workspace_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX offer_version ON offer USING btree (version);
CREATE TRIGGER bury AFTER DELETE ON offer FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('offer');
CREATE TRIGGER ids_are_verified BEFORE INSERT ON offer FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER shared_code AFTER INSERT ON offer FOR EACH ROW EXECUTE FUNCTION refuse_shared_code('offer_code');
CREATE TRIGGER shared_code_changed AFTER UPDATE OF code ON offer FOR EACH ROW WHEN (lower(new.code) <> lower(old.code)) EXECUTE FUNCTION refuse_shared_code('offer_code');
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON offer FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE offer_access (
  offer_id integer NOT NULL,
  affiliate_id integer NOT NULL,
  status text NOT NULL,
  note text NOT NULL DEFAULT ''::text,
  terms_accepted_at timestamp(3) with time zone,
  requested_at timestamp(3) with time zone,
  decided_at timestamp(3) with time zone,
  version bigint NOT NULL DEFAULT 0,
  accepted_terms_sha256 text,
  is_asked boolean NOT NULL GENERATED ALWAYS AS (status <> 'pending'::text OR requested_at IS NOT NULL) STORED,
  message text NOT NULL DEFAULT ''::text,
  answers jsonb NOT NULL DEFAULT '{}'::jsonb,
  workspace_id integer,
  CONSTRAINT offer_access_pkey PRIMARY KEY (offer_id, affiliate_id),
  CONSTRAINT offer_access_affiliate_id_fkey FOREIGN KEY (affiliate_id) REFERENCES affiliate(id),
  CONSTRAINT offer_access_offer_id_fkey FOREIGN KEY (offer_id) REFERENCES offer(id),
  CONSTRAINT offer_access_status_check CHECK (status = ANY (ARRAY['approved'::text, 'pending'::text, 'rejected'::text]))
);
CREATE INDEX offer_access_affiliate ON offer_access USING btree (affiliate_id, offer_id);
CREATE INDEX offer_access_list ON offer_access USING btree (offer_id, COALESCE(requested_at, '1970-01-01 00:00:00+00'::timestamp with time zone) DESC, affiliate_id DESC);
CREATE INDEX offer_access_requests ON offer_access USING btree (workspace_id, COALESCE(requested_at, '1970-01-01 00:00:00+00'::timestamp with time zone) DESC, offer_id DESC, affiliate_id DESC) WHERE is_asked;
CREATE INDEX offer_access_version ON offer_access USING btree (version);
CREATE INDEX offer_access_waiting ON offer_access USING btree (workspace_id, COALESCE(requested_at, '1970-01-01 00:00:00+00'::timestamp with time zone) DESC, offer_id DESC, affiliate_id DESC) WHERE is_asked AND status = 'pending'::text;
CREATE TRIGGER bury AFTER DELETE ON offer_access FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('offer_access');
CREATE TRIGGER fill_workspace BEFORE INSERT ON offer_access FOR EACH ROW EXECUTE FUNCTION fill_access_workspace();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON offer_access FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE offer_event (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  offer_id integer NOT NULL,
  code text NOT NULL,
  name text NOT NULL,
  revenue_type text NOT NULL DEFAULT 'rpa'::text,
  revenue numeric(18,4) NOT NULL DEFAULT 0,
  payout_type text NOT NULL DEFAULT 'cpa'::text,
  payout numeric(18,4) NOT NULL DEFAULT 0,
  is_default boolean NOT NULL DEFAULT false,
  is_private boolean NOT NULL DEFAULT false,
  allow_multiple boolean NOT NULL DEFAULT false,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  version bigint NOT NULL DEFAULT 0,
  CONSTRAINT offer_event_pkey PRIMARY KEY (id),
  CONSTRAINT offer_event_offer_id_code_key UNIQUE (offer_id, code),
  CONSTRAINT offer_event_offer_id_fkey FOREIGN KEY (offer_id) REFERENCES offer(id),
  CONSTRAINT offer_event_payout_check CHECK (payout >= 0::numeric),
  CONSTRAINT offer_event_payout_type_check CHECK (payout_type = ANY (ARRAY['cpa'::text, 'cps'::text, 'cpc'::text])),
  CONSTRAINT offer_event_revenue_check CHECK (revenue >= 0::numeric),
  CONSTRAINT offer_event_revenue_type_check CHECK (revenue_type = ANY (ARRAY['rpa'::text, 'rps'::text, 'rpc'::text]))
);
CREATE UNIQUE INDEX offer_event_default ON offer_event USING btree (offer_id) WHERE is_default;
CREATE INDEX offer_event_private ON offer_event USING btree (offer_id, code) WHERE is_private;
CREATE INDEX offer_event_version ON offer_event USING btree (version);
CREATE TRIGGER bury AFTER DELETE ON offer_event FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('offer_event');
CREATE TRIGGER ids_are_verified BEFORE INSERT ON offer_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON offer_event FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE offer_group (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  name text NOT NULL,
  offer_ids integer[] NOT NULL DEFAULT '{}'::integer[],
  caps jsonb NOT NULL DEFAULT '{}'::jsonb,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  version bigint NOT NULL DEFAULT 0,
  CONSTRAINT offer_group_pkey PRIMARY KEY (id),
  CONSTRAINT offer_group_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id)
);
CREATE INDEX offer_group_capped ON offer_group USING btree (workspace_id, id) WHERE caps <> '{}'::jsonb;
CREATE INDEX offer_group_list ON offer_group USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX offer_group_version ON offer_group USING btree (version);
CREATE TRIGGER bury AFTER DELETE ON offer_group FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('offer_group');
CREATE TRIGGER ids_are_verified BEFORE INSERT ON offer_group FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON offer_group FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE oidc_identity (
  issuer text NOT NULL,
  subject text NOT NULL,
  person_id integer NOT NULL,
  CONSTRAINT oidc_identity_pkey PRIMARY KEY (issuer, subject),
  CONSTRAINT oidc_identity_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id)
);
CREATE INDEX oidc_identity_person ON oidc_identity USING btree (person_id);

CREATE TABLE one_time_link (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  secret_hash bytea NOT NULL,
  kind text NOT NULL,
  person_id integer,
  workspace_id integer,
  email text,
  role text,
  affiliate_id integer,
  advertiser_id integer,
  permissions text[],
  made_by integer,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  expires_at timestamp(3) with time zone NOT NULL,
  used_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  mailed_hash bytea,
  person_rights text,
  CONSTRAINT one_time_link_pkey PRIMARY KEY (id),
  CONSTRAINT one_time_link_mailed_hash_key UNIQUE (mailed_hash),
  CONSTRAINT one_time_link_secret_hash_key UNIQUE (secret_hash),
  CONSTRAINT one_time_link_advertiser_id_fkey FOREIGN KEY (advertiser_id) REFERENCES advertiser(id),
  CONSTRAINT one_time_link_affiliate_id_fkey FOREIGN KEY (affiliate_id) REFERENCES affiliate(id),
  CONSTRAINT one_time_link_made_by_fkey FOREIGN KEY (made_by) REFERENCES person(id),
  CONSTRAINT one_time_link_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id),
  CONSTRAINT one_time_link_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT one_time_link_check CHECK (kind <> 'invitation'::text OR workspace_id IS NOT NULL AND email IS NOT NULL AND role IS NOT NULL),
  CONSTRAINT one_time_link_check1 CHECK (kind <> 'reset'::text OR person_id IS NOT NULL),
  CONSTRAINT one_time_link_kind_check CHECK (kind = ANY (ARRAY['first_admin'::text, 'invitation'::text, 'reset'::text])),
  CONSTRAINT one_time_link_role_check CHECK (role = ANY (ARRAY['admin'::text, 'analyst'::text, 'partner'::text, 'advertiser'::text]))
);
CREATE INDEX one_time_link_by_person ON one_time_link USING btree (made_by) WHERE made_by IS NOT NULL;
CREATE INDEX one_time_link_list ON one_time_link USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX one_time_link_of_advertiser ON one_time_link USING btree (advertiser_id, created_at DESC, id DESC) WHERE advertiser_id IS NOT NULL;
CREATE INDEX one_time_link_of_affiliate ON one_time_link USING btree (affiliate_id, created_at DESC, id DESC) WHERE affiliate_id IS NOT NULL;
CREATE INDEX one_time_link_of_person ON one_time_link USING btree (person_id) WHERE person_id IS NOT NULL;
CREATE TRIGGER ids_are_verified BEFORE INSERT ON one_time_link FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();

CREATE TABLE passkey (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  person_id integer NOT NULL,
  name text NOT NULL,
  credential_id bytea NOT NULL,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  last_used_at timestamp(3) with time zone,
  CONSTRAINT passkey_pkey PRIMARY KEY (id),
  CONSTRAINT passkey_credential_id_key UNIQUE (credential_id),
  CONSTRAINT passkey_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id)
);
CREATE INDEX passkey_person ON passkey USING btree (person_id, id);
CREATE TRIGGER ids_are_verified BEFORE INSERT ON passkey FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();

CREATE TABLE payout_override (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  offer_id integer NOT NULL,
  affiliate_id integer NOT NULL,
  event_code text,
  payout_type text,
  payout numeric(18,4),
  revenue_type text,
  revenue numeric(18,4),
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  version bigint NOT NULL DEFAULT 0,
  CONSTRAINT payout_override_pkey PRIMARY KEY (id),
  CONSTRAINT payout_override_offer_id_affiliate_id_event_code_key UNIQUE NULLS NOT DISTINCT (offer_id, affiliate_id, event_code),
  CONSTRAINT payout_override_affiliate_id_fkey FOREIGN KEY (affiliate_id) REFERENCES affiliate(id),
  CONSTRAINT payout_override_offer_id_fkey FOREIGN KEY (offer_id) REFERENCES offer(id),
  CONSTRAINT payout_override_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT payout_override_payout_check CHECK (payout >= 0::numeric),
  CONSTRAINT payout_override_payout_type_check CHECK (payout_type = ANY (ARRAY['cpa'::text, 'cps'::text])),
  CONSTRAINT payout_override_revenue_check CHECK (revenue >= 0::numeric),
  CONSTRAINT payout_override_revenue_type_check CHECK (revenue_type = ANY (ARRAY['rpa'::text, 'rps'::text]))
);
CREATE INDEX payout_override_affiliate ON payout_override USING btree (affiliate_id);
CREATE INDEX payout_override_list ON payout_override USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX payout_override_offer ON payout_override USING btree (offer_id, created_at DESC, id DESC);
CREATE INDEX payout_override_pair ON payout_override USING btree (affiliate_id, offer_id);
CREATE INDEX payout_override_partner ON payout_override USING btree (affiliate_id, created_at DESC, id DESC);
CREATE INDEX payout_override_version ON payout_override USING btree (version);
CREATE TRIGGER bury AFTER DELETE ON payout_override FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('payout_override');
CREATE TRIGGER ids_are_verified BEFORE INSERT ON payout_override FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON payout_override FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE person (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  email text NOT NULL,
  name text NOT NULL,
  status text NOT NULL DEFAULT 'active'::text,
  is_operator boolean NOT NULL DEFAULT false,
  password_hash text,
  preferences jsonb NOT NULL DEFAULT '{}'::jsonb,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  proved_email text,
  CONSTRAINT person_pkey PRIMARY KEY (id),
  CONSTRAINT person_status_check CHECK (status = ANY (ARRAY['active'::text, 'inactive'::text]))
);
CREATE UNIQUE INDEX person_email ON person USING btree (lower(email));
CREATE TRIGGER ids_are_verified BEFORE INSERT ON person FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();

CREATE TABLE postback (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  affiliate_id integer,
  offer_id integer NOT NULL,
  event_code text,
  kind text NOT NULL DEFAULT 's2s'::text,
  method text NOT NULL DEFAULT 'GET'::text,
  url text NOT NULL,
  body text NOT NULL DEFAULT ''::text,
  fire_on text NOT NULL DEFAULT 'approved'::text,
  status text NOT NULL DEFAULT 'active'::text,
  disabled_reason text NOT NULL DEFAULT ''::text,
  failed_in_row integer NOT NULL DEFAULT 0,
  created_by_affiliate boolean NOT NULL DEFAULT false,
  destination text NOT NULL GENERATED ALWAYS AS ("left"(COALESCE(lower("substring"(url, '(?i)^https?://(?:[^/?#@]*@)?([^/?#]*)'::text)), ''::text), 255)) STORED,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT postback_pkey PRIMARY KEY (id),
  CONSTRAINT postback_affiliate_id_fkey FOREIGN KEY (affiliate_id) REFERENCES affiliate(id),
  CONSTRAINT postback_offer_id_fkey FOREIGN KEY (offer_id) REFERENCES offer(id),
  CONSTRAINT postback_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT postback_fire_on_check CHECK (fire_on = ANY (ARRAY['approved'::text, 'any'::text, 'reversal'::text])),
  CONSTRAINT postback_kind_check CHECK (kind = ANY (ARRAY['s2s'::text, 'html'::text, 'capi'::text])),
  CONSTRAINT postback_method_check CHECK (method = ANY (ARRAY['GET'::text, 'POST'::text])),
  CONSTRAINT postback_status_check CHECK (status = ANY (ARRAY['active'::text, 'paused'::text, 'disabled'::text]))
);
CREATE INDEX postback_affiliate ON postback USING btree (affiliate_id, created_at DESC, id DESC);
CREATE INDEX postback_disabled ON postback USING btree (workspace_id, created_at DESC, id DESC) WHERE status = 'disabled'::text;
CREATE INDEX postback_fires ON postback USING btree (offer_id, affiliate_id) WHERE status = 'active'::text;
CREATE INDEX postback_list ON postback USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX postback_offer ON postback USING btree (offer_id, created_at DESC, id DESC);
CREATE TRIGGER ids_are_verified BEFORE INSERT ON postback FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER revive BEFORE UPDATE OF status ON postback FOR EACH ROW WHEN (new.status = 'active'::text AND old.status <> 'active'::text) EXECUTE FUNCTION revive_endpoint();

CREATE TABLE postback_firing (
  conversion_id uuid NOT NULL,
  postback_id integer NOT NULL,
  trigger text NOT NULL,
  delivery_id uuid NOT NULL,
  CONSTRAINT postback_firing_pkey PRIMARY KEY (conversion_id, postback_id, trigger)
);

CREATE TABLE postback_log (
  id bigint NOT NULL DEFAULT nextval('postback_log_number'::regclass),
  workspace_id integer,
  ts timestamp(3) with time zone NOT NULL DEFAULT now(),
  endpoint text NOT NULL,
  ip inet,
  token_owner text NOT NULL DEFAULT ''::text,
  params jsonb NOT NULL DEFAULT '{}'::jsonb,
  http_status integer NOT NULL,
  result text NOT NULL,
  click_id text,
  conversion_id uuid,
  message text NOT NULL DEFAULT ''::text,
  request_id text,
  advertiser_id integer,
  offer_id integer,
  event_id integer
) PARTITION BY RANGE (ts);
CREATE INDEX postback_log_advertiser ON ONLY postback_log USING btree (advertiser_id, ts DESC, id DESC) INCLUDE (offer_id, event_id, result) WHERE advertiser_id IS NOT NULL;
CREATE INDEX postback_log_click ON ONLY postback_log USING btree (click_id, ts DESC, id DESC) WHERE click_id IS NOT NULL;
CREATE INDEX postback_log_conversion ON ONLY postback_log USING btree (conversion_id, ts DESC, id DESC) WHERE conversion_id IS NOT NULL;
CREATE INDEX postback_log_list ON ONLY postback_log USING btree (workspace_id, ts DESC, id DESC);
CREATE INDEX postback_log_result ON ONLY postback_log USING btree (workspace_id, result, ts DESC, id DESC) WHERE result <> 'approved'::text;

CREATE TABLE postback_log_other PARTITION OF postback_log DEFAULT;

CREATE TABLE product_feed (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  advertiser_id integer NOT NULL,
  offer_id integer,
  name text NOT NULL,
  feed_url text NOT NULL,
  format text NOT NULL DEFAULT 'csv'::text,
  description text NOT NULL DEFAULT ''::text,
  status text NOT NULL DEFAULT 'active'::text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT product_feed_pkey PRIMARY KEY (id),
  CONSTRAINT product_feed_advertiser_id_fkey FOREIGN KEY (advertiser_id) REFERENCES advertiser(id),
  CONSTRAINT product_feed_offer_id_fkey FOREIGN KEY (offer_id) REFERENCES offer(id),
  CONSTRAINT product_feed_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT product_feed_format_check CHECK (format = ANY (ARRAY['csv'::text, 'tsv'::text, 'xml'::text, 'json'::text])),
  CONSTRAINT product_feed_status_check CHECK (status = ANY (ARRAY['active'::text, 'inactive'::text]))
);
CREATE INDEX product_feed_advertiser ON product_feed USING btree (advertiser_id);
CREATE INDEX product_feed_list ON product_feed USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX product_feed_offer ON product_feed USING btree (offer_id);
CREATE TRIGGER ids_are_verified BEFORE INSERT ON product_feed FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();

CREATE UNLOGGED TABLE rate_window (
  holder text NOT NULL,
  window_start timestamp with time zone NOT NULL,
  used integer NOT NULL,
  CONSTRAINT rate_window_pkey PRIMARY KEY (holder)
);

CREATE TABLE recovery_code (
  person_id integer NOT NULL,
  code_hash bytea NOT NULL,
  used_at timestamp(3) with time zone,
  CONSTRAINT recovery_code_pkey PRIMARY KEY (person_id, code_hash),
  CONSTRAINT recovery_code_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id)
);

CREATE TABLE report_key (
  workspace_id integer NOT NULL,
  advertiser_id integer NOT NULL,
  key text NOT NULL,
  fingerprint bytea NOT NULL,
  answer jsonb NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT report_key_pkey PRIMARY KEY (workspace_id, advertiser_id, key)
);
CREATE INDEX report_key_age ON report_key USING brin (created_at);
CREATE INDEX report_key_conversion ON report_key USING btree (COALESCE(answer #>> '{taken,conversionId}'::text[], answer ->> 'conversionId'::text)) WHERE COALESCE(answer #>> '{taken,conversionId}'::text[], answer ->> 'conversionId'::text) IS NOT NULL;

CREATE UNLOGGED TABLE report_place (
  kind text NOT NULL,
  holder integer NOT NULL,
  place smallint NOT NULL,
  owner uuid NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT report_place_pkey PRIMARY KEY (kind, holder, place)
);

CREATE TABLE saved_view (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  affiliate_id integer,
  advertiser_id integer,
  person_id integer,
  key_id integer,
  name text NOT NULL,
  path text NOT NULL,
  query text NOT NULL,
  is_shared boolean NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT saved_view_pkey PRIMARY KEY (id),
  CONSTRAINT saved_view_advertiser_id_fkey FOREIGN KEY (advertiser_id) REFERENCES advertiser(id),
  CONSTRAINT saved_view_affiliate_id_fkey FOREIGN KEY (affiliate_id) REFERENCES affiliate(id),
  CONSTRAINT saved_view_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id),
  CONSTRAINT saved_view_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id),
  CONSTRAINT saved_view_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT saved_view_check CHECK (num_nonnulls(person_id, key_id) = 1),
  CONSTRAINT saved_view_check1 CHECK (num_nonnulls(affiliate_id, advertiser_id) <= 1)
);
CREATE INDEX saved_view_list ON saved_view USING btree (workspace_id, COALESCE(affiliate_id, 0), COALESCE(advertiser_id, 0), created_at DESC, id DESC);
CREATE INDEX saved_view_of_advertiser ON saved_view USING btree (advertiser_id) WHERE advertiser_id IS NOT NULL;
CREATE INDEX saved_view_of_affiliate ON saved_view USING btree (affiliate_id) WHERE affiliate_id IS NOT NULL;
CREATE INDEX saved_view_of_key ON saved_view USING btree (key_id) WHERE key_id IS NOT NULL;
CREATE INDEX saved_view_of_person ON saved_view USING btree (person_id) WHERE person_id IS NOT NULL;
CREATE TRIGGER ids_are_verified BEFORE INSERT ON saved_view FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();

CREATE TABLE schedule_task (
  name text NOT NULL,
  owner text NOT NULL DEFAULT ''::text,
  expires_at timestamp(3) with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  done_at timestamp(3) with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  CONSTRAINT schedule_task_pkey PRIMARY KEY (name)
);

CREATE TABLE schema_migration (
  number integer NOT NULL,
  name text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  oldest_reader integer,
  CONSTRAINT schema_migration_pkey PRIMARY KEY (number)
);

CREATE TABLE session (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  person_id integer NOT NULL,
  secret_hash bytea NOT NULL,
  state text NOT NULL,
  proved_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  last_seen_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  expires_at timestamp(3) with time zone NOT NULL,
  ip inet,
  user_agent text NOT NULL DEFAULT ''::text,
  CONSTRAINT session_pkey PRIMARY KEY (id),
  CONSTRAINT session_secret_hash_key UNIQUE (secret_hash),
  CONSTRAINT session_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id),
  CONSTRAINT session_state_check CHECK (state = ANY (ARRAY['second_factor'::text, 'full'::text]))
);
CREATE INDEX session_end ON session USING btree (expires_at);
CREATE INDEX session_person ON session USING btree (person_id, created_at DESC, id DESC);

CREATE TABLE sign_in_throttle (
  holder text NOT NULL,
  failures integer NOT NULL,
  counted_until timestamp(3) with time zone NOT NULL,
  blocked_until timestamp(3) with time zone NOT NULL,
  CONSTRAINT sign_in_throttle_pkey PRIMARY KEY (holder)
);

CREATE TABLE sign_up (
  id uuid NOT NULL,
  workspace_id integer NOT NULL,
  email_hash bytea NOT NULL,
  affiliate_id integer NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT sign_up_pkey PRIMARY KEY (id),
  CONSTRAINT sign_up_affiliate_id_fkey FOREIGN KEY (affiliate_id) REFERENCES affiliate(id),
  CONSTRAINT sign_up_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id)
);
CREATE INDEX sign_up_of_affiliate ON sign_up USING btree (affiliate_id);
CREATE INDEX sign_up_of_email ON sign_up USING btree (workspace_id, email_hash, created_at DESC);

CREATE TABLE smart_link (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  code text NOT NULL,
  name text NOT NULL,
  status text NOT NULL DEFAULT 'active'::text,
  affiliate_id integer,
  mode text NOT NULL DEFAULT 'weighted'::text,
  rules jsonb NOT NULL DEFAULT '[]'::jsonb,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  version bigint NOT NULL DEFAULT 0,
  CONSTRAINT smart_link_pkey PRIMARY KEY (id),
  CONSTRAINT smart_link_affiliate_id_fkey FOREIGN KEY (affiliate_id) REFERENCES affiliate(id),
  CONSTRAINT smart_link_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT smart_link_mode_check CHECK (mode = ANY (ARRAY['weighted'::text, 'waterfall'::text])),
  CONSTRAINT smart_link_status_check CHECK (status = ANY (ARRAY['active'::text, 'paused'::text]))
);
CREATE INDEX smart_link_affiliate ON smart_link USING btree (affiliate_id, created_at DESC, id DESC) WHERE affiliate_id IS NOT NULL;
CREATE INDEX smart_link_any_code ON smart_link USING btree (lower(code));
CREATE UNIQUE INDEX smart_link_code ON smart_link USING btree (workspace_id, lower(code));
CREATE INDEX smart_link_exact_code ON smart_link USING btree (workspace_id, code);
CREATE INDEX smart_link_list ON smart_link USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX smart_link_version ON smart_link USING btree (version);
CREATE TRIGGER bury AFTER DELETE ON smart_link FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('smart_link');
CREATE TRIGGER ids_are_verified BEFORE INSERT ON smart_link FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER shared_code AFTER INSERT ON smart_link FOR EACH ROW EXECUTE FUNCTION refuse_shared_code('smart_link_code');
CREATE TRIGGER shared_code_changed AFTER UPDATE OF code ON smart_link FOR EACH ROW WHEN (lower(new.code) <> lower(old.code)) EXECUTE FUNCTION refuse_shared_code('smart_link_code');
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON smart_link FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE store_beat (
  id integer NOT NULL DEFAULT 1,
  beat bigint NOT NULL DEFAULT 0,
  beat_at timestamp(3) with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  lifted_at timestamp(3) with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  verified_life text,
  lifting_life text,
  CONSTRAINT store_beat_pkey PRIMARY KEY (id),
  CONSTRAINT store_beat_id_check CHECK (id = 1)
);

CREATE TABLE system_process (
  process_id uuid NOT NULL,
  role text NOT NULL,
  name text NOT NULL,
  host text NOT NULL,
  version text NOT NULL,
  commit text NOT NULL,
  schema_version integer NOT NULL,
  incarnation uuid NOT NULL,
  started_at timestamp(3) with time zone NOT NULL,
  last_seen_at timestamp(3) with time zone NOT NULL,
  clickhouse_version integer,
  ops_port integer,
  CONSTRAINT system_process_pkey PRIMARY KEY (process_id),
  CONSTRAINT system_process_ops_port_check CHECK (ops_port >= 1 AND ops_port <= 65535),
  CONSTRAINT system_process_role_check CHECK (role = ANY (ARRAY['ingress'::text, 'processors'::text, 'api'::text]))
);

CREATE TABLE totp (
  person_id integer NOT NULL,
  sealed bytea NOT NULL,
  confirmed_at timestamp(3) with time zone,
  last_step bigint NOT NULL DEFAULT 0,
  CONSTRAINT totp_pkey PRIMARY KEY (person_id),
  CONSTRAINT totp_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id)
);

CREATE TABLE tracking_domain (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  host text NOT NULL,
  scheme text NOT NULL DEFAULT 'https'::text,
  status text NOT NULL DEFAULT 'active'::text,
  is_default boolean NOT NULL DEFAULT false,
  certification text NOT NULL DEFAULT 'not_certified'::text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  version bigint NOT NULL DEFAULT 0,
  shared_from integer,
  CONSTRAINT tracking_domain_pkey PRIMARY KEY (id),
  CONSTRAINT tracking_domain_shared_from_fkey FOREIGN KEY (shared_from) REFERENCES tracking_domain(id),
  CONSTRAINT tracking_domain_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT tracking_domain_certification_check CHECK (certification = ANY (ARRAY['certified'::text, 'pending'::text, 'not_certified'::text])),
  CONSTRAINT tracking_domain_scheme_check CHECK (scheme = ANY (ARRAY['https'::text, 'http'::text])),
  CONSTRAINT tracking_domain_status_check CHECK (status = ANY (ARRAY['active'::text, 'inactive'::text]))
);
CREATE UNIQUE INDEX tracking_domain_default ON tracking_domain USING btree (workspace_id) WHERE is_default;
CREATE INDEX tracking_domain_first ON tracking_domain USING btree (workspace_id, is_default DESC, id) WHERE status = 'active'::text;
CREATE INDEX tracking_domain_group ON tracking_domain USING btree (COALESCE(shared_from, id));
CREATE UNIQUE INDEX tracking_domain_host ON tracking_domain USING btree (workspace_id, lower(host));
CREATE INDEX tracking_domain_list ON tracking_domain USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX tracking_domain_name ON tracking_domain USING btree (split_part(tracking_host_key(host), ':'::text, 1)) WHERE shared_from IS NULL;
CREATE UNIQUE INDEX tracking_domain_owner ON tracking_domain USING btree (tracking_host_key(host)) WHERE shared_from IS NULL;
CREATE INDEX tracking_domain_share ON tracking_domain USING btree (shared_from) WHERE shared_from IS NOT NULL;
CREATE INDEX tracking_domain_version ON tracking_domain USING btree (version);
CREATE TRIGGER bury AFTER DELETE ON tracking_domain FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('tracking_domain');
CREATE TRIGGER ids_are_verified BEFORE INSERT ON tracking_domain FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON tracking_domain FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();
CREATE TRIGGER tracking_host BEFORE INSERT OR UPDATE OF host ON tracking_domain FOR EACH ROW EXECUTE FUNCTION guard_tracking_host();

CREATE TABLE tracking_domain_assignment (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  domain_id integer NOT NULL,
  affiliate_id integer,
  offer_id integer,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT tracking_domain_assignment_pkey PRIMARY KEY (id),
  CONSTRAINT tracking_domain_assignment_workspace_id_affiliate_id_offer__key UNIQUE NULLS NOT DISTINCT (workspace_id, affiliate_id, offer_id),
  CONSTRAINT tracking_domain_assignment_affiliate_id_fkey FOREIGN KEY (affiliate_id) REFERENCES affiliate(id),
  CONSTRAINT tracking_domain_assignment_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES tracking_domain(id),
  CONSTRAINT tracking_domain_assignment_offer_id_fkey FOREIGN KEY (offer_id) REFERENCES offer(id),
  CONSTRAINT tracking_domain_assignment_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id)
);
CREATE INDEX tracking_domain_assignment_affiliate ON tracking_domain_assignment USING btree (affiliate_id, created_at DESC, id DESC) WHERE affiliate_id IS NOT NULL;
CREATE INDEX tracking_domain_assignment_domain ON tracking_domain_assignment USING btree (domain_id, created_at DESC, id DESC);
CREATE INDEX tracking_domain_assignment_list ON tracking_domain_assignment USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX tracking_domain_assignment_offer ON tracking_domain_assignment USING btree (offer_id, created_at DESC, id DESC) WHERE offer_id IS NOT NULL;
CREATE TRIGGER ids_are_verified BEFORE INSERT ON tracking_domain_assignment FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();

CREATE TABLE traffic_control (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  name text NOT NULL,
  status text NOT NULL DEFAULT 'active'::text,
  conditions jsonb NOT NULL DEFAULT '{}'::jsonb,
  action text NOT NULL,
  forward_offer_id integer,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  version bigint NOT NULL DEFAULT 0,
  CONSTRAINT traffic_control_pkey PRIMARY KEY (id),
  CONSTRAINT traffic_control_forward_offer_id_fkey FOREIGN KEY (forward_offer_id) REFERENCES offer(id),
  CONSTRAINT traffic_control_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT traffic_control_action_check CHECK (action = ANY (ARRAY['block'::text, 'forward'::text])),
  CONSTRAINT traffic_control_status_check CHECK (status = ANY (ARRAY['active'::text, 'paused'::text]))
);
CREATE INDEX traffic_control_list ON traffic_control USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX traffic_control_version ON traffic_control USING btree (version);
CREATE TRIGGER bury AFTER DELETE ON traffic_control FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('traffic_control');
CREATE TRIGGER ids_are_verified BEFORE INSERT ON traffic_control FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON traffic_control FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE traffic_source_template (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  name text NOT NULL,
  traffic_source text NOT NULL DEFAULT ''::text,
  params jsonb NOT NULL DEFAULT '{}'::jsonb,
  source_id text NOT NULL DEFAULT ''::text,
  affiliate_ids integer[] NOT NULL DEFAULT '{}'::integer[],
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  version bigint NOT NULL DEFAULT 0,
  CONSTRAINT traffic_source_template_pkey PRIMARY KEY (id),
  CONSTRAINT traffic_source_template_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id)
);
CREATE INDEX traffic_source_template_list ON traffic_source_template USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX traffic_source_template_version ON traffic_source_template USING btree (version);
CREATE TRIGGER bury AFTER DELETE ON traffic_source_template FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('traffic_source_template');
CREATE TRIGGER ids_are_verified BEFORE INSERT ON traffic_source_template FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON traffic_source_template FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE webhook (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  name text NOT NULL,
  url text NOT NULL,
  events text[] NOT NULL,
  active boolean NOT NULL DEFAULT true,
  secret text NOT NULL,
  disabled_reason text NOT NULL DEFAULT ''::text,
  failed_in_row integer NOT NULL DEFAULT 0,
  destination text NOT NULL GENERATED ALWAYS AS ("left"(COALESCE(lower("substring"(url, '(?i)^https?://(?:[^/?#@]*@)?([^/?#]*)'::text)), ''::text), 255)) STORED,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT webhook_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT webhook_secret_check CHECK (secret ~ '^whsec_[0-9a-f]{48}$'::text)
);
CREATE INDEX webhook_list ON webhook USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX webhook_subscriber ON webhook USING btree (workspace_id) WHERE active;
CREATE TRIGGER ids_are_verified BEFORE INSERT ON webhook FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER revive BEFORE UPDATE OF active ON webhook FOR EACH ROW WHEN (new.active AND NOT old.active) EXECUTE FUNCTION revive_endpoint();

CREATE TABLE workspace (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  slug text NOT NULL,
  name text NOT NULL,
  brand_name text NOT NULL DEFAULT ''::text,
  timezone text NOT NULL DEFAULT 'UTC'::text,
  currency text NOT NULL DEFAULT 'USD'::text,
  status text NOT NULL DEFAULT 'active'::text,
  default_fallback_url text NOT NULL DEFAULT ''::text,
  allowed_destinations text[] NOT NULL DEFAULT '{}'::text[],
  attribution_model text NOT NULL DEFAULT 'last'::text,
  advertiser_updates boolean NOT NULL DEFAULT true,
  organic_affiliate_id integer,
  email_attribution boolean NOT NULL DEFAULT false,
  ip_storage text NOT NULL DEFAULT 'full'::text,
  fraud_checks jsonb NOT NULL DEFAULT '{}'::jsonb,
  forward_unknown_url text NOT NULL DEFAULT ''::text,
  postback_token text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  version bigint NOT NULL DEFAULT 0,
  advertiser_may_rotate boolean NOT NULL DEFAULT true,
  sign_up text NOT NULL DEFAULT 'closed'::text,
  CONSTRAINT workspace_pkey PRIMARY KEY (id),
  CONSTRAINT workspace_slug_key UNIQUE (slug),
  CONSTRAINT workspace_organic_affiliate_id_fkey FOREIGN KEY (organic_affiliate_id) REFERENCES affiliate(id),
  CONSTRAINT workspace_attribution_model_check CHECK (attribution_model = ANY (ARRAY['last'::text, 'first'::text])),
  CONSTRAINT workspace_ip_storage_check CHECK (ip_storage = ANY (ARRAY['full'::text, 'truncated'::text])),
  CONSTRAINT workspace_sign_up_check CHECK (sign_up = ANY (ARRAY['closed'::text, 'review'::text])),
  CONSTRAINT workspace_status_check CHECK (status = ANY (ARRAY['active'::text, 'inactive'::text]))
);
CREATE INDEX workspace_version ON workspace USING btree (version);
CREATE TRIGGER bury AFTER DELETE ON workspace FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('workspace');
CREATE TRIGGER ids_are_verified BEFORE INSERT ON workspace FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON workspace FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE workspace_blocklist_entry (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id integer NOT NULL,
  entry text NOT NULL,
  version bigint NOT NULL DEFAULT 0,
  CONSTRAINT workspace_blocklist_entry_pkey PRIMARY KEY (id),
  CONSTRAINT workspace_blocklist_entry_workspace_id_entry_key UNIQUE (workspace_id, entry),
  CONSTRAINT workspace_blocklist_entry_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id)
);
CREATE INDEX workspace_blocklist_entry_version ON workspace_blocklist_entry USING btree (version);
CREATE TRIGGER bury AFTER DELETE ON workspace_blocklist_entry FOR EACH ROW EXECUTE FUNCTION bury_catalog_row('workspace_blocklist_entry');
CREATE TRIGGER ids_are_verified BEFORE INSERT ON workspace_blocklist_entry FOR EACH STATEMENT EXECUTE FUNCTION refuse_unverified_ids();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON workspace_blocklist_entry FOR EACH ROW EXECUTE FUNCTION stamp_catalog_row();

CREATE TABLE workspace_fx_rate (
  workspace_id integer NOT NULL,
  currency text NOT NULL,
  date date NOT NULL,
  rate numeric(24,10) NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT workspace_fx_rate_pkey PRIMARY KEY (workspace_id, currency, date),
  CONSTRAINT workspace_fx_rate_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  CONSTRAINT workspace_fx_rate_rate_check CHECK (rate > 0::numeric)
);
CREATE INDEX workspace_fx_rate_list ON workspace_fx_rate USING btree (workspace_id, date DESC, currency DESC);

CREATE VIEW catalog_entry AS
 SELECT catalog_entry_of_installation.kind,
    catalog_entry_of_installation.id,
    catalog_entry_of_installation.version,
    catalog_entry_of_installation.record
   FROM catalog_entry_of_installation
UNION ALL
 SELECT 'workspace_blocklist_entry'::text AS kind,
    workspace_blocklist_entry.id::text AS id,
    workspace_blocklist_entry.version,
    jsonb_build_object('id', workspace_blocklist_entry.id, 'workspace_id', workspace_blocklist_entry.workspace_id, 'entry', workspace_blocklist_entry.entry) AS record
   FROM workspace_blocklist_entry
UNION ALL
 SELECT 'code_alias'::text AS kind,
    code_alias.id::text AS id,
    code_alias.version,
    jsonb_build_object('id', code_alias.id, 'workspace_id', code_alias.workspace_id, 'kind', code_alias.kind, 'alias', code_alias.alias, 'target_id', code_alias.target_id) AS record
   FROM code_alias
UNION ALL
 SELECT 'advertiser_old_token'::text AS kind,
    advertiser_old_token.id::text AS id,
    advertiser_old_token.version,
    jsonb_build_object('id', advertiser_old_token.id, 'advertiser_id', advertiser_old_token.advertiser_id, 'token', advertiser_old_token.token, 'good_until_ms', (EXTRACT(epoch FROM advertiser_old_token.good_until) * 1000::numeric)::bigint) AS record
   FROM advertiser_old_token;

CREATE VIEW catalog_entry_of_installation AS
 SELECT catalog_entry_of_links.kind,
    catalog_entry_of_links.id,
    catalog_entry_of_links.version,
    catalog_entry_of_links.record
   FROM catalog_entry_of_links
UNION ALL
 SELECT 'offer_group'::text AS kind,
    offer_group.id::text AS id,
    offer_group.version,
    jsonb_build_object('id', offer_group.id, 'workspace_id', offer_group.workspace_id, 'name', offer_group.name, 'offer_ids', offer_group.offer_ids, 'caps', offer_group.caps) AS record
   FROM offer_group
UNION ALL
 SELECT 'conversion_rule'::text AS kind,
    conversion_rule.id::text AS id,
    conversion_rule.version,
    jsonb_build_object('id', conversion_rule.id, 'workspace_id', conversion_rule.workspace_id, 'name', conversion_rule.name, 'position', conversion_rule."position", 'status', conversion_rule.status, 'action', conversion_rule.action, 'conditions', conversion_rule.conditions) AS record
   FROM conversion_rule
UNION ALL
 SELECT 'coupon'::text AS kind,
    coupon.id::text AS id,
    coupon.version,
    jsonb_build_object('id', coupon.id, 'workspace_id', coupon.workspace_id, 'code', coupon.code, 'offer_id', coupon.offer_id, 'affiliate_id', coupon.affiliate_id, 'status', coupon.status, 'starts_at_ms', (EXTRACT(epoch FROM coupon.starts_at) * 1000::numeric)::bigint, 'ends_at_ms', (EXTRACT(epoch FROM coupon.ends_at) * 1000::numeric)::bigint) AS record
   FROM coupon;

CREATE VIEW catalog_entry_of_links AS
 SELECT 'installation'::text AS kind,
    installation.id::text AS id,
    installation.version,
    jsonb_build_object('id', installation.id, 'secret', installation.secret, 'lanes', installation.lanes) AS record
   FROM installation
UNION ALL
 SELECT 'workspace'::text AS kind,
    w.id::text AS id,
    w.version,
    to_jsonb(w.*) AS record
   FROM workspace w
UNION ALL
 SELECT 'advertiser'::text AS kind,
    advertiser.id::text AS id,
    advertiser.version,
    jsonb_build_object('id', advertiser.id, 'workspace_id', advertiser.workspace_id, 'name', advertiser.name, 'status', advertiser.status, 'postback_token', advertiser.postback_token, 'postback_ip_allowlist', advertiser.postback_ip_allowlist, 'budget_caps', advertiser.budget_caps) AS record
   FROM advertiser
UNION ALL
 SELECT 'offer'::text AS kind,
    offer.id::text AS id,
    offer.version,
        CASE
            WHEN offer.deleted_at IS NULL THEN jsonb_build_object('id', offer.id, 'workspace_id', offer.workspace_id, 'advertiser_id', offer.advertiser_id, 'code', offer.code, 'name', offer.name, 'status', offer.status, 'visibility', offer.visibility, 'destination_url', offer.destination_url, 'fallback_url', offer.fallback_url, 'allowed_domains', offer.allowed_domains, 'currency', offer.currency, 'revenue_type', offer.revenue_type, 'revenue', offer.revenue::text, 'payout_type', offer.payout_type, 'payout', offer.payout::text, 'caps', offer.caps, 'targeting', offer.targeting, 'conversion_method', offer.conversion_method, 'unique_per_click', offer.unique_per_click, 'attribution_days', offer.attribution_days, 'default_status', offer.default_status, 'hold_days', trim_scale(offer.hold_days)::text, 'min_seconds_to_conversion', offer.min_seconds_to_conversion, 'duplicate_click_seconds', offer.duplicate_click_seconds, 'unique_click_hours', offer.unique_click_hours, 'fraud_checks', offer.fraud_checks, 'terms', offer.terms, 'fail_route_offer_id', offer.fail_route_offer_id, 'txid_scope', offer.txid_scope, 'pass_parameters', offer.pass_parameters)
            ELSE NULL::jsonb
        END AS record
   FROM offer
UNION ALL
 SELECT 'offer_event'::text AS kind,
    offer_event.id::text AS id,
    offer_event.version,
    jsonb_build_object('id', offer_event.id, 'offer_id', offer_event.offer_id, 'code', offer_event.code, 'name', offer_event.name, 'revenue_type', offer_event.revenue_type, 'revenue', offer_event.revenue::text, 'payout_type', offer_event.payout_type, 'payout', offer_event.payout::text, 'is_default', offer_event.is_default, 'is_private', offer_event.is_private, 'allow_multiple', offer_event.allow_multiple) AS record
   FROM offer_event
UNION ALL
 SELECT 'affiliate'::text AS kind,
    affiliate.id::text AS id,
    affiliate.version,
    jsonb_build_object('id', affiliate.id, 'workspace_id', affiliate.workspace_id, 'code', affiliate.code, 'name', affiliate.name, 'status', affiliate.status, 'throttle_percent', affiliate.throttle_percent, 'hold_days', trim_scale(affiliate.hold_days)::text) AS record
   FROM affiliate
UNION ALL
 SELECT 'offer_access'::text AS kind,
    (offer_access.offer_id || '-'::text) || offer_access.affiliate_id AS id,
    offer_access.version,
    jsonb_build_object('offer_id', offer_access.offer_id, 'affiliate_id', offer_access.affiliate_id, 'status', offer_access.status, 'terms_accepted', offer_access.terms_accepted_at IS NOT NULL) AS record
   FROM offer_access
UNION ALL
 SELECT 'payout_override'::text AS kind,
    payout_override.id::text AS id,
    payout_override.version,
    jsonb_build_object('id', payout_override.id, 'offer_id', payout_override.offer_id, 'affiliate_id', payout_override.affiliate_id, 'event_code', payout_override.event_code, 'payout_type', payout_override.payout_type, 'payout', payout_override.payout::text, 'revenue_type', payout_override.revenue_type, 'revenue', payout_override.revenue::text) AS record
   FROM payout_override
UNION ALL
 SELECT 'tracking_domain'::text AS kind,
    tracking_domain.id::text AS id,
    tracking_domain.version,
    jsonb_build_object('id', tracking_domain.id, 'workspace_id', tracking_domain.workspace_id, 'host', tracking_domain.host, 'scheme', tracking_domain.scheme, 'status', tracking_domain.status, 'is_default', tracking_domain.is_default, 'certification', tracking_domain.certification) AS record
   FROM tracking_domain
UNION ALL
 SELECT 'link_key'::text AS kind,
    link_key.id::text AS id,
    link_key.version,
    jsonb_build_object('id', link_key.id, 'workspace_id', link_key.workspace_id, 'key', link_key.key, 'offer_id', link_key.offer_id, 'affiliate_id', link_key.affiliate_id) AS record
   FROM link_key
UNION ALL
 SELECT 'smart_link'::text AS kind,
    smart_link.id::text AS id,
    smart_link.version,
    jsonb_build_object('id', smart_link.id, 'workspace_id', smart_link.workspace_id, 'code', smart_link.code, 'name', smart_link.name, 'status', smart_link.status, 'affiliate_id', smart_link.affiliate_id, 'mode', smart_link.mode, 'rules', smart_link.rules) AS record
   FROM smart_link
UNION ALL
 SELECT 'traffic_source_template'::text AS kind,
    traffic_source_template.id::text AS id,
    traffic_source_template.version,
    jsonb_build_object('id', traffic_source_template.id, 'workspace_id', traffic_source_template.workspace_id, 'name', traffic_source_template.name, 'traffic_source', traffic_source_template.traffic_source, 'params', traffic_source_template.params, 'source_id', traffic_source_template.source_id, 'affiliate_ids', traffic_source_template.affiliate_ids) AS record
   FROM traffic_source_template
UNION ALL
 SELECT 'traffic_control'::text AS kind,
    traffic_control.id::text AS id,
    traffic_control.version,
    jsonb_build_object('id', traffic_control.id, 'workspace_id', traffic_control.workspace_id, 'name', traffic_control.name, 'status', traffic_control.status, 'conditions', traffic_control.conditions, 'action', traffic_control.action, 'forward_offer_id', traffic_control.forward_offer_id) AS record
   FROM traffic_control
UNION ALL
 SELECT 'blocklist_entry'::text AS kind,
    blocklist_entry.id::text AS id,
    blocklist_entry.version,
    jsonb_build_object('id', blocklist_entry.id, 'entry', blocklist_entry.entry) AS record
   FROM blocklist_entry
UNION ALL
 SELECT catalog_tombstone.kind,
    catalog_tombstone.id,
    catalog_tombstone.version,
    NULL::jsonb AS record
   FROM catalog_tombstone;

CREATE VIEW link_code AS
 SELECT 'offer'::text AS kind,
    offer.id,
    offer.workspace_id,
    lower(offer.code) AS code
   FROM offer
  WHERE offer.deleted_at IS NULL
UNION ALL
 SELECT 'affiliate'::text AS kind,
    affiliate.id,
    affiliate.workspace_id,
    lower(affiliate.code) AS code
   FROM affiliate
UNION ALL
 SELECT 'smart_link'::text AS kind,
    smart_link.id,
    smart_link.workspace_id,
    lower(smart_link.code) AS code
   FROM smart_link;

CREATE FUNCTION add_report_key(k jsonb, answer jsonb)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into report_key (workspace_id, advertiser_id, key, fingerprint, answer)
  values ((k ->> 'workspace_id')::integer, (k ->> 'advertiser_id')::integer, k ->> 'key', (k ->> 'fingerprint')::bytea, answer)
$function$;

CREATE FUNCTION address_check(c conversion, address_limit jsonb)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  from_address inet := (address_limit ->> 'address')::inet;
  same integer;
  near integer;
begin
  select count(*) filter (where a.address = from_address), count(*) into same, near
  from conversion_address a
  where a.offer_id = c.offer_id and a.network = network_of(from_address)
    -- What came in beside it may carry a later time, and counts too.
    and a.conv_ts > c.conv_ts - interval '24 hours';
  return case
    when same >= (address_limit ->> 'same_max')::integer then 'fraud:duplicate_conv_ip'
    when near >= (address_limit ->> 'network_max')::integer then 'fraud:duplicate_conv_subnet24'
  end;
end $function$;

CREATE FUNCTION after_conversion_change(before conversion, after conversion, actor text, key_id integer, cause jsonb DEFAULT NULL::jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  insert into conversion_history (conversion_id, at, actor, key_id, person_id, from_status, to_status, reason, from_revenue,
    to_revenue, from_payout, to_payout, from_sale_amount, to_sale_amount)
  values (after.id, clock_timestamp(), actor, key_id, (cause ->> 'person_id')::integer, before.status, after.status,
    after.status_reason, before.revenue, after.revenue, before.payout, after.payout, before.sale_amount, after.sale_amount);
  insert into conversion_fact_outbox (conversion_id) values (after.id);
  perform queue_postbacks(before, after, cause);
  perform queue_conversion_event(before, after, cause);
end $function$;

CREATE FUNCTION bury_catalog_row()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into catalog_tombstone (kind, id, version)
  values (tg_argv[0], case when tg_argv[0] = 'offer_access'
                           then (to_jsonb(old) ->> 'offer_id') || '-' || (to_jsonb(old) ->> 'affiliate_id')
                           else to_jsonb(old) ->> 'id' end, next_catalog_version())
  on conflict (kind, id) do update set version = excluded.version;
  return old;
end $function$;

CREATE FUNCTION cap_bucket_start(period text, at timestamp with time zone, timezone text)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  select case period
    when 'hourly' then date_trunc('hour', at at time zone timezone) at time zone timezone
    when 'daily' then date_trunc('day', at, timezone)
    when 'weekly' then date_trunc('week', at, timezone)
    when 'monthly' then date_trunc('month', at, timezone)
    else '-infinity'::timestamptz
  end
$function$;

CREATE FUNCTION cap_counts(conv_ts timestamp with time zone, caps jsonb, timezone text)
 RETURNS TABLE(cap text, bucket_start timestamp with time zone, "limit" numeric, add numeric, alert boolean)
 LANGUAGE sql
 STABLE
AS $function$
  select l.cap, cap_bucket_start(l.period, conv_ts, timezone), l."limit", l.add, l.alert
  from jsonb_to_recordset(caps) as l(cap text, period text, "limit" numeric, add numeric, alert boolean)
$function$;

CREATE FUNCTION change_by_keyed_report(k jsonb, of_conversion uuid, from_version integer, change jsonb, caps jsonb, timezone text)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  outcome jsonb;
begin
  perform pg_advisory_xact_lock(report_key_lock(k));
  outcome := find_report_key(k);
  if outcome is not null then
    return outcome;
  end if;
  outcome := change_by_report(of_conversion, from_version, change, caps, timezone);
  if outcome ->> 'outcome' <> 'stale' then
    perform add_report_key(k, jsonb_build_object('taken', jsonb_build_object(
      'conversionId', of_conversion, 'status', outcome -> 'status', 'reason', outcome -> 'status_reason', 'isDuplicate', false,
      'isUpdate', true, 'details', k -> 'details')));
  end if;
  return outcome;
end $function$;

CREATE FUNCTION change_by_report(of_conversion uuid, from_version integer, change jsonb, caps jsonb, timezone text)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  before conversion := (select t from conversion t where t.id = of_conversion for update);
  at timestamptz := clock_timestamp();
  verdict text := 'free';
begin
  if before.version is distinct from from_version then
    return jsonb_build_object('outcome', 'stale');
  end if;
  if before.status = 'rejected' and change ->> 'status' <> 'rejected' and caps <> '[]' and not exists (
       -- What staff approve passes the caps and is not counted.
       select from conversion_history h
       where h.conversion_id = of_conversion and h.to_status <> 'rejected' and (h.actor <> 'api' or h.from_status is null)) then
    perform lock_caps(jsonb_build_array(jsonb_build_object('row', jsonb_build_object('conv_ts', at),
      'plan', jsonb_build_object('caps', caps, 'timezone', timezone))));
    verdict := check_caps(at, caps, timezone);
    if verdict = 'exceeded' then
      change := change - '{change_fingerprint,asked_status}'::text[]
        || jsonb_build_object('status', 'rejected', 'status_reason', 'cap_exceeded');
    else
      perform count_caps(at, caps, timezone);
      if verdict = 'alert' then
        change := change || jsonb_build_object('cap_alert', true);
      end if;
    end if;
  end if;
  if verdict <> 'exceeded' or (before.status_reason, before.revenue, before.payout, before.sale_amount) is distinct from
       ('cap_exceeded', (change ->> 'revenue')::numeric, (change ->> 'payout')::numeric, (change ->> 'sale_amount')::numeric) then
    perform change_conversion(of_conversion, from_version, change, 'postback', null);
  end if;
  return jsonb_build_object('outcome', case verdict when 'exceeded' then 'capped' else 'applied' end,
    'status', change ->> 'status', 'status_reason', change ->> 'status_reason');
end $function$;

CREATE FUNCTION change_conversion(conversion_id uuid, from_version integer, change jsonb, actor text, key_id integer)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  before conversion := (select t from conversion t where t.id = conversion_id for update);
  after conversion;
begin
  if before.version is distinct from from_version then
    return false;
  end if;
  after := jsonb_populate_record(before, change);
  after.version := before.version + 1;
  after.updated_at := clock_timestamp();
  -- A status that somebody set is not changed by the end of a hold.
  if after.status <> before.status or actor = 'api' then
    after.hold_until := null;
  end if;
  update conversion t
  set status = after.status, status_reason = after.status_reason, revenue = after.revenue, payout = after.payout,
      sale_amount = after.sale_amount, payout_given = after.payout_given, revenue_given = after.revenue_given,
      notes = after.notes, hold_until = after.hold_until, cap_alert = after.cap_alert,
      change_fingerprint = after.change_fingerprint, asked_status = after.asked_status, version = after.version,
      updated_at = after.updated_at
  where t.id = conversion_id;
  perform after_conversion_change(before, after, actor, key_id, change -> 'cause');
  return true;
end $function$;

CREATE FUNCTION check_caps(conv_ts timestamp with time zone, caps jsonb, timezone text)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  found_counters integer;
  exceeded boolean;
  alerted boolean;
begin
  select count(*),
         bool_or(not k.alert and (u.used >= k."limit" or u.used + k.add > k."limit")),
         bool_or(k.alert and (u.used >= k."limit" or u.used + k.add > k."limit"))
  into found_counters, exceeded, alerted
  from cap_counts(conv_ts, caps, timezone) k
  join cap_counter c on c.cap = k.cap and c.bucket_start = k.bucket_start
  cross join lateral (
    select c.used + coalesce(sum(m.amount), 0) as used from cap_click_money m
    where m.cap = c.cap and m.bucket_start = c.bucket_start) u;
  if found_counters <> jsonb_array_length(caps) then
    raise exception 'a cap counter went away' using errcode = 'serialization_failure';
  end if;
  if exceeded then
    update cap_counter c set refused_limit = k."limit"
    from cap_counts(conv_ts, caps, timezone) k
    cross join lateral (
      select coalesce(sum(m.amount), 0) as of_clicks from cap_click_money m
      where m.cap = k.cap and m.bucket_start = k.bucket_start) m
    where c.cap = k.cap and c.bucket_start = k.bucket_start and not k.alert and c.used + m.of_clicks < k."limit"
      and c.used + m.of_clicks + k.add > k."limit" and c.refused_limit is distinct from k."limit";
  end if;
  return case when exceeded then 'exceeded' when alerted then 'alert' else 'free' end;
end $function$;

CREATE FUNCTION conversion_document(c conversion)
 RETURNS json
 LANGUAGE sql
 STABLE
AS $function$
  select json_build_object('id', c.id, 'click_id', coalesce(c.click_id, ''), 'offer_id', c.offer_id,
    'affiliate_id', c.affiliate_id, 'advertiser_id', c.advertiser_id, 'event', c.event_code, 'status', c.status,
    'status_reason', c.status_reason, 'revenue', c.revenue::text, 'payout', c.payout::text,
    'sale_amount', c.sale_amount::text, 'currency', c.currency, 'adv_txid', coalesce(c.adv_txid, ''), 'method', c.method,
    'conv_ts', iso_time(c.conv_ts), 'click_ts', iso_time(c.click_ts), 'sub1', coalesce(c.click ->> 'sub1', ''),
    'sub2', coalesce(c.click ->> 'sub2', ''), 'sub3', coalesce(c.click ->> 'sub3', ''),
    'sub4', coalesce(c.click ->> 'sub4', ''), 'sub5', coalesce(c.click ->> 'sub5', ''),
    'source_id', coalesce(c.click ->> 'source_id', ''), 'gclid', coalesce(c.click ->> 'gclid', ''),
    'country', coalesce(c.click ->> 'country', ''), 'device_type', coalesce(c.click ->> 'device_type', ''))
$function$;

CREATE FUNCTION conversion_state(c conversion)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
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
$function$;

CREATE FUNCTION count_caps(conv_ts timestamp with time zone, caps jsonb, timezone text)
 RETURNS void
 LANGUAGE sql
AS $function$
  update cap_counter c set used = c.used + k.add
  from cap_counts(conv_ts, caps, timezone) k
  where c.cap = k.cap and c.bucket_start = k.bucket_start
$function$;

CREATE FUNCTION count_endpoint_outcome(of_kind text, of_endpoint integer, is_delivered boolean, last_error text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  is_disabled boolean := false;
begin
  -- Mostly there is nothing to forget, and then nothing is written.
  if is_delivered and of_kind = 'postback' then
    update postback p set failed_in_row = 0 where p.id = of_endpoint and p.failed_in_row > 0;
  elsif is_delivered then
    update webhook w set failed_in_row = 0 where w.id = of_endpoint and w.failed_in_row > 0;
  elsif of_kind = 'postback' then
    update postback p
    set failed_in_row = p.failed_in_row + 1,
        status = case when p.failed_in_row + 1 >= 25 and p.status = 'active' then 'disabled' else p.status end,
        disabled_reason = case when p.failed_in_row + 1 >= 25 and p.status = 'active'
          then format('%s deliveries in a row failed, the last one with: %s', p.failed_in_row + 1, last_error)
          else p.disabled_reason end,
        updated_at = case when p.failed_in_row + 1 >= 25 and p.status = 'active' then clock_timestamp() else p.updated_at end
    where p.id = of_endpoint
    returning p.status = 'disabled' and p.failed_in_row = 25 into is_disabled;
  else
    update webhook w
    set failed_in_row = w.failed_in_row + 1,
        active = w.active and w.failed_in_row + 1 < 25,
        disabled_reason = case when w.failed_in_row + 1 >= 25 and w.active
          then format('%s deliveries in a row failed, the last one with: %s', w.failed_in_row + 1, last_error)
          else w.disabled_reason end,
        updated_at = case when w.failed_in_row + 1 >= 25 and w.active then clock_timestamp() else w.updated_at end
    where w.id = of_endpoint
    returning not w.active and w.disabled_reason <> '' and w.failed_in_row = 25 into is_disabled;
  end if;
  return coalesce(is_disabled, false);
end $function$;

CREATE FUNCTION drop_postback_log_days(keep_days integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  old regclass;
  dropped integer := 0;
begin
  perform pg_advisory_xact_lock(7265011);
  for old in
    select i.inhrelid::regclass from pg_inherits i
    where i.inhparent = 'postback_log'::regclass
      and end_of_partition(i.inhrelid::regclass) <= now() - keep_days * interval '1 day'
  loop
    execute format('drop table %s', old);
    dropped := dropped + 1;
  end loop;
  return dropped;
end $function$;

CREATE FUNCTION earned(c conversion)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case when c.status = 'approved' then c.payout else 0 end
$function$;

CREATE FUNCTION end_of_partition(of_table regclass)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  select (regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([^'']+)''\)'))[1]::timestamptz
  from pg_class c where c.oid = of_table
$function$;

CREATE FUNCTION erased_addresses(of_workspace integer, since timestamp with time zone)
 RETURNS text[]
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(array_agg(h), '{}') from erasure e, unnest(e.subject) h
  where e.at >= since and e.workspace_id = of_workspace and e.kind = 'ip'
$function$;

CREATE FUNCTION erasure_key()
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select encode(sha256(convert_to('erasure ' || i.secret, 'UTF8')), 'hex') from installation i
$function$;

CREATE FUNCTION event_document(event_id uuid, of_workspace integer, event_name text, data json, more jsonb)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select format('{"id":"%s","event":"%s","workspace_id":%s,"created_at":"%s"%s,"data":%s}', event_id, event_name, of_workspace,
    iso_time(clock_timestamp()),
    (select string_agg(format(',%s:%s', to_json(m.key), m.value), '' order by m.key) from jsonb_each(more) m), data)
$function$;

CREATE FUNCTION fill_access_workspace()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.workspace_id := coalesce(new.workspace_id, (select o.workspace_id from offer o where o.id = new.offer_id));
  return new;
end $function$;

CREATE FUNCTION find_conversion(c conversion, latest_of_click boolean, OUT found_row conversion, OUT found_by text)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
begin
  if c.adv_txid is not null then
    -- Rows from before the offer's scope was changed are looked at, too. Of several events with the order, the same one is meant.
    found_row := (select t from event_order e join conversion t on t.id = e.conversion_id
      where e.offer_id = c.offer_id and e.adv_txid = c.adv_txid
        and (e.event_code = c.event_code or not c.holds_event_txid)
      order by t.event_code = c.event_code desc, t.conv_ts desc, t.id desc limit 1);
    if found_row.id is null or found_row.event_code <> c.event_code then
      found_row := coalesce((select t from conversion t
        where t.offer_id = c.offer_id and t.adv_txid = c.adv_txid and t.holds_txid
          and (t.event_code = c.event_code or not c.holds_event_txid)), found_row);
    end if;
    found_by := 'txid';
  end if;
  if found_row.id is null and c.click_id is not null then
    found_by := 'click';
    if c.holds_click then
      found_row := (select t from conversion t
        where t.click_id = c.click_id and t.event_code = c.event_code and t.holds_click);
    elsif latest_of_click then
      found_row := (select t from conversion t
        where t.click_id = c.click_id and t.event_code = c.event_code and not t.is_duplicate
        order by t.conv_ts desc, t.created_at desc, t.id desc limit 1);
    end if;
  end if;
  if found_row.id is null then
    found_by := null;
  end if;
end $function$;

CREATE FUNCTION find_report_key(k jsonb)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select jsonb_build_object('outcome', 'keyed', 'fingerprint', '\x' || encode(r.fingerprint, 'hex'), 'answer', r.answer)
  from report_key r
  where r.workspace_id = (k ->> 'workspace_id')::integer and r.advertiser_id = (k ->> 'advertiser_id')::integer
    and r.key = k ->> 'key'
$function$;

CREATE FUNCTION forget_other_postback_log(keep_days integer, rows_max integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  source text;
  forgotten integer;
begin
  foreach source in array array['postback_log_before', 'postback_log_other'] loop
    continue when to_regclass(source) is null;
    execute format('delete from %I where ctid = any(array(
      select ctid from %I where ts < now() - $1 * interval ''1 day'' limit $2))', source, source)
    using keep_days, rows_max;
    get diagnostics forgotten = row_count;
    if forgotten > 0 then
      return forgotten;
    end if;
  end loop;
  return 0;
end $function$;

CREATE FUNCTION forget_visitors_of_conversions(keep_days integer, rows_max integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  changed integer;
begin
  update conversion c
  set conv_ip = null, email_hash = null, phone_hash = null, report_fingerprint = null, change_fingerprint = null,
      click = c.click - array['gclid', 'gbraid', 'wbraid', 'msclkid', 'fbclid', 'ttclid']
  where c.id = any(array(
    select o.id from conversion o
    where o.conv_ts < now() - keep_days * interval '1 day'
      and (o.conv_ip is not null or o.email_hash is not null or o.phone_hash is not null
        or o.click ?| array['gclid', 'gbraid', 'wbraid', 'msclkid', 'fbclid', 'ttclid'])
    order by o.conv_ts limit rows_max for update skip locked));
  get diagnostics changed = row_count;
  return changed;
end $function$;

CREATE FUNCTION guard_tracking_host()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
begin
  if tg_op = 'UPDATE' then
    if tracking_host_key(new.host) = tracking_host_key(old.host) then
      return new;
    end if;
    if exists (select from tracking_domain d where d.shared_from = old.id) then
      raise exception 'a shared host keeps its name'
        using errcode = 'foreign_key_violation', constraint = 'tracking_domain_shared';
    end if;
    new.shared_from := null;
  end if;
  -- Cookies and certificates are the same on every port of a name, so another port is no other owner's. The unique index decides
  -- about the same port.
  if new.shared_from is null and exists (
    select from tracking_domain d
    where split_part(tracking_host_key(d.host), ':', 1) = split_part(tracking_host_key(new.host), ':', 1)
      and d.shared_from is null and d.workspace_id <> new.workspace_id)
  then
    raise exception 'the host has another owner' using errcode = 'unique_violation', constraint = 'tracking_domain_owner';
  end if;
  return new;
end $function$;

CREATE FUNCTION has_any(content text, parts text[])
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE STRICT
AS $function$
  select exists (select from unnest(parts) part where part <> '' and position(part in content) > 0)
$function$;

CREATE FUNCTION has_hashed_address(content text, erased text[])
 RETURNS boolean
 LANGUAGE sql
 STABLE STRICT
AS $function$
  select cardinality(erased) > 0 and exists (
    select from regexp_matches(lower(replace(replace(content, '%3A', ':'), '%3a', ':')),
      '[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}', 'g') m
    where keyed_hash(erasure_key(), m[1]) = any(erased))
$function$;

CREATE FUNCTION has_subscriber(of_workspace integer, event_name text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select exists (
    select from webhook w where w.workspace_id = of_workspace and w.active and event_name = any (w.events))
$function$;

CREATE FUNCTION is_cap_reached(used numeric, "limit" numeric, price numeric, refused_limit numeric)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select used >= "limit" or coalesce(used + price > "limit", coalesce(refused_limit >= "limit", false) and used is not null)
$function$;

CREATE FUNCTION is_click_erased(of_click text, of_workspace integer)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select exists (select from erased_click k join erasure e on e.id = k.erasure_id
    where k.click_id = of_click and e.workspace_id = of_workspace)
$function$;

CREATE FUNCTION is_producer_quiet(one ingress_producer)
 RETURNS boolean
 LANGUAGE sql
 STABLE
RETURN (((one).run IS NOT NULL) AND (((one).run_at IS NULL) OR (((one).given_up_at IS NOT NULL) AND ((one).run_at < (one).given_up_at))) AND (NOT (EXISTS (SELECT FROM click_producer c WHERE (c.producer = (is_producer_quiet.one).id)))) AND (NOT (EXISTS (SELECT FROM coupon_click c WHERE (c.producer = (is_producer_quiet.one).id)))));

CREATE FUNCTION iso_time(at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$function$;

CREATE FUNCTION keep_report_key(k jsonb, answer jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_advisory_xact_lock(report_key_lock(k));
  if find_report_key(k) is null then
    perform add_report_key(k, answer);
  end if;
  return find_report_key(k);
end $function$;

CREATE FUNCTION keyed_hash(key text, value text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE STRICT
AS $function$
  select encode(sha256(convert_to(key || ' ' || value, 'UTF8')), 'hex')
$function$;

CREATE FUNCTION lock_caps(batch jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  wanted text[];
  starts timestamptz[];
begin
  select array_agg(w.cap), array_agg(w.bucket_start) into wanted, starts
  from (select distinct k.cap, k.bucket_start
        from jsonb_array_elements(batch) as i(item),
             cap_counts((i.item #>> '{row,conv_ts}')::timestamptz, i.item #> '{plan,caps}', i.item #>> '{plan,timezone}') k
       ) w;
  if wanted is null then
    return;
  end if;
  insert into cap_counter (cap, bucket_start)
  select w.cap, w.bucket_start from unnest(wanted, starts) as w(cap, bucket_start)
  where not exists (select from cap_counter c where c.cap = w.cap and c.bucket_start = w.bucket_start)
  order by w.cap, w.bucket_start
  on conflict do nothing;
  perform from cap_counter c
  where (c.cap, c.bucket_start) in (select w.cap, w.bucket_start from unnest(wanted, starts) as w(cap, bucket_start))
  order by c.cap, c.bucket_start
  for update;
end $function$;

CREATE FUNCTION lock_conversions(batch jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_advisory_xact_lock(k.key)
  from (
    select hashtextextended(r.click_id || ' ' || r.event_code, 7265002) as key
    from jsonb_to_recordset(batch) as i("row" jsonb), jsonb_to_record(i."row") as r(click_id text, event_code text)
    where r.click_id is not null
    union
    select hashtextextended(r.offer_id || ' ' || r.adv_txid, 7265003)
    from jsonb_to_recordset(batch) as i("row" jsonb), jsonb_to_record(i."row") as r(offer_id integer, adv_txid text)
    where r.adv_txid is not null
    union
    select hashtextextended((i.item #>> '{row,offer_id}') || ' ' || network_of((i.item #>> '{plan,address_limit,address}')::inet), 7265004)
    from jsonb_array_elements(batch) as i(item)
    where i.item #>> '{plan,address_limit,address}' is not null
    union
    select report_key_lock(i.item -> 'key')
    from jsonb_array_elements(batch) as i(item)
    where i.item ? 'key'
    order by key
  ) k;
  perform lock_caps(batch);
end $function$;

CREATE FUNCTION log_row_without_erased(r jsonb, names text[])
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  of_workspace integer := (r ->> 'workspace_id')::integer;
  erased text[];
begin
  if r ->> 'click_id' is not null and is_click_erased(r ->> 'click_id', of_workspace) then
    return r || jsonb_build_object('params', without_person(r -> 'params', names, '{}'))
      || case when r ->> 'endpoint' = 'pb' then '{}' else '{"ip": null}'::jsonb end;
  end if;
  erased := erased_addresses(of_workspace, (r ->> 'ts')::timestamptz);
  if cardinality(erased) = 0 then
    return r;
  end if;
  if keyed_hash(erasure_key(), host((r ->> 'ip')::inet)) = any(erased) then
    r := r || '{"ip": null}';
  end if;
  return r || jsonb_build_object('params', without_hashed(r -> 'params', erased));
end $function$;

CREATE FUNCTION make_postback_log_days(ahead integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  day date;
  name text;
  first_day date := (now() at time zone 'UTC')::date;
  begins text;
  ends text;
  columns text := 'id, workspace_id, ts, endpoint, ip, token_owner, params, http_status, result, click_id, conversion_id, message,
    request_id, advertiser_id, offer_id, event_id';
  made integer := 0;
begin
  perform pg_advisory_xact_lock(7265011);
  for day in select first_day + n from generate_series(0, ahead) n loop
    name := 'postback_log_' || to_char(day, 'YYYYMMDD');
    begins := day || ' 00:00:00+00';
    ends := (day + 1) || ' 00:00:00+00';
    continue when to_regclass(name) is not null
      or begins::timestamptz < end_of_partition(to_regclass('postback_log_before'));
    execute format('create table %I (like postback_log including defaults including constraints including indexes)', name);
    execute format('with moved as (delete from postback_log_other where ts >= %L and ts < %L returning %s)
      insert into %I (%s) select %s from moved', begins, ends, columns, name, columns, columns);
    execute format('alter table postback_log attach partition %I for values from (%L) to (%L)', name, begins, ends);
    made := made + 1;
  end loop;
  return made;
end $function$;

CREATE FUNCTION network_of(address inet)
 RETURNS inet
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select host(network(set_masklen(address, case family(address) when 4 then 24 else 48 end)))::inet
$function$;

CREATE FUNCTION next_catalog_version()
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  given bigint;
begin
  perform pg_advisory_xact_lock(7265001);
  given := nextval('catalog_version');
  if coalesce(current_setting('tracker.catalog_is_logged', true), '') = '' then
    insert into catalog_log (version) values (given);
    perform set_config('tracker.catalog_is_logged', 'yes', true);
  end if;
  return given;
end $function$;

CREATE FUNCTION queue_conversion_event(before conversion, after conversion, cause jsonb DEFAULT NULL::jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  event_name text := case when before.id is null then 'conversion.created' else 'conversion.updated' end;
  more jsonb := '{}';
begin
  if before.id is not null then
    if (before.status, before.revenue, before.payout, before.sale_amount)
       = (after.status, after.revenue, after.payout, after.sale_amount) then
      return;
    end if;
    more := jsonb_build_object('previous', jsonb_build_object('status', before.status, 'revenue', before.revenue::text,
      'payout', before.payout::text, 'sale_amount', before.sale_amount::text));
  end if;
  if has_subscriber(after.workspace_id, event_name) then
    perform queue_event(after.workspace_id, event_name, conversion_document(after), more, after.id, cause);
  end if;
end $function$;

CREATE FUNCTION queue_event(of_workspace integer, event_name text, data json, more jsonb, of_conversion uuid, cause jsonb DEFAULT NULL::jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  new_id uuid := gen_random_uuid();
  document text := event_document(new_id, of_workspace, event_name, data, more);
begin
  insert into delivery (workspace_id, kind, endpoint_id, destination, conversion_id, event, event_id, facts,
    request_id, traceparent)
  select of_workspace, 'webhook', w.id, w.destination, of_conversion, event_name, new_id,
    jsonb_build_object('body', document, 'is_ordered', false), cause ->> 'request_id', cause ->> 'traceparent'
  from webhook w
  where w.workspace_id = of_workspace and w.active and event_name = any (w.events)
  order by w.id;
end $function$;

CREATE FUNCTION queue_postbacks(before conversion, after conversion, cause jsonb DEFAULT NULL::jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  is_new_status boolean := before.status is distinct from after.status;
  is_reversal boolean := coalesce(
    before.status = 'approved' and (after.status = 'rejected' or after.payout < before.payout), false);
  due record;
  queued uuid;
  change jsonb;
begin
  if after.is_private or after.is_duplicate or not (is_new_status or is_reversal) then
    return;
  end if;
  for due in
    select p.id, p.destination, p.kind, case p.fire_on when 'reversal' then 'reversal' else after.status end as trigger
    from postback p
    where p.offer_id = after.offer_id and p.status = 'active'
      and (p.affiliate_id is null or p.affiliate_id = after.affiliate_id)
      and (p.event_code is null or p.event_code = after.event_code)
      and case p.fire_on
            when 'reversal' then is_reversal
            when 'any' then is_new_status
            else is_new_status and after.status = 'approved'
          end
    order by p.id
  loop
    change := jsonb_build_object('status', after.status, 'reason', after.status_reason, 'payout', after.payout::text,
      'sale_amount', after.sale_amount::text, 'old_status', coalesce(before.status, ''),
      'old_payout', coalesce(before.payout, 0)::numeric(18, 4)::text,
      'payout_delta', (earned(after) - coalesce(earned(before), 0))::numeric(18, 4)::text);
    queued := gen_random_uuid();
    insert into postback_firing (conversion_id, postback_id, trigger, delivery_id)
    values (after.id, due.id, due.trigger, queued)
    on conflict do nothing;
    if found then
      insert into delivery (id, workspace_id, kind, endpoint_id, destination, conversion_id, trigger, facts, due_at,
        request_id, traceparent)
      values (queued, after.workspace_id, 'postback', due.id, due.destination, after.id, due.trigger, change,
        clock_timestamp() + case
          when due.kind = 'html' and before.id is null and after.method in ('js', 'pixel') then interval '10 seconds'
          else interval '0' end,
        cause ->> 'request_id', cause ->> 'traceparent');
    else
      -- One that was held back because the conversion was rejected has not fired: now it may. The lock comes first, so that a
      -- worker that is just holding it back has either done so or will look at the conversion after us.
      queued := (select f.delivery_id from postback_firing f
        where f.conversion_id = after.id and f.postback_id = due.id and f.trigger = due.trigger);
      perform from delivery d where d.id = queued for update;
      update delivery d
      set status = 'pending', error = '', due_at = clock_timestamp(), finished_at = null, facts = change,
        request_id = cause ->> 'request_id', traceparent = cause ->> 'traceparent'
      where d.id = queued and d.status = 'failed' and d.error = 'conversion rejected';
    end if;
  end loop;
end $function$;

CREATE FUNCTION record_conversion(input jsonb, plan conversion_plan)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  given conversion := jsonb_populate_record(null::conversion, input);
  c conversion;
  nothing conversion;
  repeated conversion;
  hit record;
  reaction text;
  capped text;
  is_counted boolean;
  may_repeat boolean := plan.on_click = 'existing' and given.report_fingerprint is not null and given.click_id is not null;
  -- Nothing but the indexes has a say: then they are asked by the insert itself.
  is_plain boolean := plan.on_none = 'insert' and plan.caps = '[]' and plan.address_limit is null and not plan.may_be_multiple
    and not may_repeat;
  other_event text;
begin
  -- A processor of an earlier release does not know the column.
  given.holds_event_txid := coalesce(given.holds_event_txid, false);
  is_plain := is_plain and (given.adv_txid is null or not (given.holds_event_txid or exists (
    select from event_order e where e.offer_id = given.offer_id and e.adv_txid = given.adv_txid)));
  given.version := 1;
  given.created_at := clock_timestamp();
  given.updated_at := given.created_at;
  for attempt in 1..3 loop
    c := given;
    is_counted := false;
    other_event := null;
    if may_repeat then
      repeated := (select t from conversion t
        where t.click_id = c.click_id and t.event_code = c.event_code
          and c.report_fingerprint in (t.report_fingerprint, t.change_fingerprint)
        order by t.is_duplicate, t.conv_ts desc, t.id desc limit 1);
      if repeated.id is not null then
        return jsonb_build_object('outcome', 'existing', 'found_by', 'report', 'row', conversion_state(repeated));
      end if;
    end if;
    if not is_plain or attempt > 1 then
      select f.found_row as found_row, f.found_by as found_by into hit from find_conversion(c, plan.latest_of_click) f;
      if hit.found_by is not null then
        reaction := case hit.found_by when 'txid' then plan.on_txid else plan.on_click end;
        -- One event never changes the conversion of another one, even if both have the order number (G220).
        if hit.found_by = 'txid' and (hit.found_row).event_code <> c.event_code then
          other_event := (hit.found_row).event_code;
          if reaction = 'existing' and plan.names_event then
            reaction := 'duplicate';
          end if;
        end if;
        -- Another order of the same click is another report, never a change of the first (G106).
        if hit.found_by = 'click' and reaction = 'existing'
           and c.adv_txid is not null and c.adv_txid is distinct from (hit.found_row).adv_txid then
          reaction := 'duplicate';
        end if;
        if reaction = 'existing' then
          return jsonb_build_object('outcome', 'existing', 'found_by', hit.found_by, 'row', conversion_state(hit.found_row));
        elsif reaction = 'conflict' then
          return jsonb_build_object('outcome', 'conflict');
        elsif plan.on_none = 'none' then
          return jsonb_build_object('outcome', 'none');
        end if;
        c.status := 'rejected';
        c.status_reason := 'duplicate';
        c.is_duplicate := true;
        c.hold_until := null;
        c.holds_click := false;
        c.holds_txid := false;
        c.holds_event_txid := false;
      elsif plan.on_none = 'none' then
        return jsonb_build_object('outcome', 'none');
      else
        -- The order of G96: addresses, the caller's reject rules (already in the row), caps.
        if plan.address_limit is not null then
          reaction := address_check(c, plan.address_limit);
          if reaction is not null then
            c.status := 'rejected';
            c.status_reason := reaction;
            c.hold_until := null;
          end if;
        end if;
        is_counted := plan.caps <> '[]' and (plan.address_limit is null or reaction is null);
        if is_counted then
          capped := check_caps(c.conv_ts, plan.caps, plan.timezone);
          if capped = 'exceeded' then
            c.status := 'rejected';
            c.status_reason := 'cap_exceeded';
            c.hold_until := null;
          elsif capped = 'alert' then
            c.cap_alert := true;
          end if;
        end if;
        if c.status_reason = '' and plan.may_be_multiple and exists (
             select from conversion t
             where t.click_id = c.click_id and t.event_code = c.event_code and not t.is_duplicate) then
          c.status_reason := 'multiple';
        end if;
      end if;
    end if;
    if c.holds_event_txid then
      insert into event_order (offer_id, adv_txid, event_code, conversion_id)
      values (c.offer_id, c.adv_txid, c.event_code, c.id) on conflict do nothing;
      continue when not found;
    end if;
    insert into conversion values (c.*) on conflict do nothing;
    if not found and c.holds_event_txid then
      delete from event_order e where e.conversion_id = c.id and e.offer_id = c.offer_id and e.adv_txid = c.adv_txid;
      -- FOUND is of the last statement: the place of the conversion is still taken.
      continue;
    end if;
    if found then
      if c.status <> 'rejected' then
        if is_counted then
          perform count_caps(c.conv_ts, plan.caps, plan.timezone);
        end if;
        if plan.address_limit is not null then
          insert into conversion_address (offer_id, network, address, conv_ts, conversion_id)
          values (c.offer_id, network_of((plan.address_limit ->> 'address')::inet), (plan.address_limit ->> 'address')::inet,
            c.conv_ts, c.id);
        end if;
      end if;
      perform after_conversion_change(nothing, c, plan.actor, plan.key_id, plan.cause);
      return jsonb_build_object('outcome', 'recorded', 'id', c.id, 'status', c.status, 'status_reason', c.status_reason,
        'is_duplicate', c.is_duplicate) || case when other_event is null then '{}' else jsonb_build_object('details',
          jsonb_build_object('reason', 'txid ' || c.adv_txid || ' is a conversion of the event ' || other_event
            || ': on this offer an order is one conversion (txid_scope)')) end;
    end if;
    -- Somebody else has the place and is visible now: judge again with it in sight.
  end loop;
  raise exception 'the place of a conversion changed hands too often' using errcode = 'serialization_failure';
end $function$;

CREATE FUNCTION record_conversions(batch jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  item jsonb;
  outcome jsonb;
  outcomes jsonb := '[]';
begin
  perform lock_conversions(batch);
  for item in select i.item from jsonb_array_elements(batch) as i(item) loop
    outcome := null;
    if item ? 'key' then
      outcome := find_report_key(item -> 'key');
    end if;
    if outcome is null then
      outcome := record_conversion(row_without_erased(item -> 'row'),
        jsonb_populate_record(null::conversion_plan, item -> 'plan'));
      if item ? 'key' and outcome ->> 'outcome' = 'recorded' then
        perform add_report_key(item -> 'key', jsonb_build_object('taken', jsonb_build_object(
          'conversionId', outcome -> 'id', 'status', outcome -> 'status', 'reason', outcome -> 'status_reason',
          'isDuplicate', outcome -> 'is_duplicate', 'isUpdate', false, 'details',
          coalesce(item -> 'key' -> 'details', '{}') || coalesce(outcome -> 'details', '{}'))));
      end if;
      if item ? 'coupon_click' and outcome ->> 'outcome' = 'recorded' then
        insert into coupon_click (click_id, conversion_id, click, producer, until_ms)
        values (item #>> '{coupon_click,click,click_id}', (outcome ->> 'id')::uuid, item #> '{coupon_click,click}',
          (item #>> '{coupon_click,producer}')::integer, (item #>> '{coupon_click,until_ms}')::bigint);
      end if;
    end if;
    outcomes := outcomes || jsonb_build_array(outcome);
  end loop;
  return outcomes;
end $function$;

CREATE FUNCTION refuse_shared_code()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
declare
  twin record;
begin
  if not exists (select from tracking_domain where shared_from is not null) then
    return null;
  end if;
  for twin in
    select c.workspace_id from link_code c
    where c.kind = tg_table_name and c.code = lower(new.code) and c.workspace_id <> new.workspace_id
  loop
    if share_a_host(new.workspace_id, twin.workspace_id) then
      raise exception 'a workspace on the same host has this code'
        using errcode = 'unique_violation', constraint = tg_argv[0];
    end if;
  end loop;
  return null;
end $function$;

CREATE FUNCTION refuse_unverified_ids()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select from store_beat where verified_life <> store_life()) then
    raise exception 'Postgres was started anew and gives no ids until it has been compared with ClickHouse'
      using errcode = 'cannot_connect_now', hint = 'Try again in a few seconds; processors, api or `tracker migrate` compare them.';
  end if;
  return null;
end $function$;

CREATE FUNCTION release_due_holds(rows_max integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  held record;
  before conversion;
  after conversion;
  released integer := 0;
begin
  for held in
    select t as state from conversion t
    where t.hold_until <= now() and t.status = 'pending'
    order by t.hold_until limit rows_max
    for update skip locked
  loop
    before := held.state;
    after := before;
    if exists (select from affiliate a where a.id = before.affiliate_id and a.status in ('blocked', 'rejected')) then
      after.status_reason := 'rule:partner_blocked';
    else
      after.status := 'approved';
      after.status_reason := '';
    end if;
    after.hold_until := null;
    after.version := before.version + 1;
    after.updated_at := clock_timestamp();
    update conversion t
    set status = after.status, status_reason = after.status_reason, hold_until = null, version = after.version,
        updated_at = after.updated_at
    where t.id = before.id;
    perform after_conversion_change(before, after, 'hold', null);
    released := released + 1;
  end loop;
  return released;
end $function$;

CREATE FUNCTION report_key_lock(k jsonb)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select hashtextextended(concat_ws(' ', k ->> 'workspace_id', k ->> 'advertiser_id', k ->> 'key'), 7265005)
$function$;

CREATE FUNCTION revive_endpoint()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.disabled_reason := '';
  new.failed_in_row := 0;
  return new;
end $function$;

CREATE FUNCTION row_without_erased(r jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  of_click text := r ->> 'click_id';
  of_workspace integer := (r ->> 'workspace_id')::integer;
  reported_at timestamptz := (r ->> 'conv_ts')::timestamptz;
  matched bigint[];
  erased text[];
begin
  if r ->> 'email_hash' is not null then
    matched := (select array_agg(e.id) from erasure e
      where e.at >= reported_at and e.workspace_id = of_workspace and e.kind = 'email'
        and e.subject[1] = keyed_hash(erasure_key(), r ->> 'email_hash'));
    if of_click is not null and matched is not null then
      insert into erased_click (erasure_id, click_id) select id, of_click from unnest(matched) id on conflict do nothing;
      update erasure e set repeat_at = clock_timestamp() where e.id = any(matched);
    end if;
  end if;
  if matched is not null or of_click is not null and is_click_erased(of_click, of_workspace) then
    return r || '{"conv_ip": null, "email_hash": null, "phone_hash": null, "report_fingerprint": null}'
      || jsonb_build_object('click', coalesce(r -> 'click', '{}')
        - array['gclid', 'gbraid', 'wbraid', 'msclkid', 'fbclid', 'ttclid']);
  end if;
  erased := erased_addresses(of_workspace, reported_at);
  if cardinality(erased) = 0 then
    return r;
  end if;
  if keyed_hash(erasure_key(), host((r ->> 'conv_ip')::inet)) = any(erased) then
    r := r || '{"conv_ip": null, "report_fingerprint": null}';
  end if;
  return r || jsonb_build_object('params', without_hashed(coalesce(r -> 'params', '{}'), erased));
end $function$;

CREATE FUNCTION set_conversion_status(of_workspace integer, ids uuid[], change jsonb, reject_duplicates boolean, by_key integer)
 RETURNS TABLE(id uuid, outcome text, status text, status_reason text)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  wanted uuid;
  current conversion;
  changed conversion;
begin
  perform from conversion t where t.workspace_id = of_workspace and t.id = any(ids) order by t.id for update;
  for wanted in
    select i.id from unnest(ids) with ordinality as i(id, place) group by i.id order by min(i.place)
  loop
    current := (select t from conversion t where t.workspace_id = of_workspace and t.id = wanted);
    if current.id is null then
      return query select wanted, 'not-found', '', '';
      continue;
    end if;
    if current.is_duplicate and not (reject_duplicates and change ->> 'status' = 'rejected') then
      return query select wanted, 'duplicate', current.status, current.status_reason;
      continue;
    end if;
    changed := jsonb_populate_record(current, change);
    if (changed.status, changed.status_reason, changed.notes)
       is distinct from (current.status, current.status_reason, current.notes) then
      perform change_conversion(wanted, current.version, change, 'api', by_key);
    end if;
    return query select wanted, 'updated', changed.status, changed.status_reason;
  end loop;
end $function$;

CREATE FUNCTION settle_delivery(of_id uuid, token uuid, result jsonb)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  held delivery := (select d from delivery d where d.id = of_id and d.lease_token = token for update);
  is_final boolean := result ->> 'status' <> 'retrying';
  erased text[];
begin
  if held.id is null then
    return 'stale';
  end if;
  if result ->> 'error' = 'conversion rejected' and exists (
       select from conversion c where c.id = held.conversion_id and c.status <> 'rejected' and not c.is_duplicate) then
    update delivery d set due_at = clock_timestamp(), lease_token = null, attempts = d.attempts - 1 where d.id = of_id;
    return 'due';
  end if;
  if exists (select from conversion c join erased_click k on k.click_id = c.click_id
         join erasure e on e.id = k.erasure_id and e.workspace_id = c.workspace_id
       where c.id = held.conversion_id and k.added_at > clock_timestamp() - interval '1 minute') then
    result := result || '{"url": "", "response_body": ""}';
  end if;
  erased := erased_addresses(held.workspace_id, clock_timestamp() - interval '1 minute');
  if has_hashed_address(result ->> 'url' || ' ' || (result ->> 'response_body'), erased) then
    result := result || '{"url": "", "response_body": ""}';
  end if;
  update delivery d
  set status = result ->> 'status',
      url = result ->> 'url',
      error = result ->> 'error',
      response_status = (result ->> 'response_status')::integer,
      response_body = result ->> 'response_body',
      attempts = d.attempts - case when (result ->> 'is_sent')::boolean then 0 else 1 end,
      due_at = case when is_final then null
        else clock_timestamp() + (result ->> 'retry_in_ms')::bigint * interval '1 millisecond' end,
      finished_at = case when is_final then clock_timestamp() end,
      lease_token = null
  where d.id = of_id;
  if is_final and (result ->> 'status' = 'delivered' or (result ->> 'is_endpoints_fault')::boolean)
     and count_endpoint_outcome(held.kind, held.endpoint_id, result ->> 'status' = 'delivered', result ->> 'error') then
    return 'disabled';
  end if;
  return 'settled';
end $function$;

CREATE FUNCTION share_a_host(one integer, another integer)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select exists (
    select from tracking_domain a
    join tracking_domain b on coalesce(b.shared_from, b.id) = coalesce(a.shared_from, a.id)
    where a.workspace_id = one and b.workspace_id = another)
$function$;

CREATE FUNCTION stamp_catalog_row()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.version := next_catalog_version();
  return new;
end $function$;

CREATE FUNCTION store_life()
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select concat_ws('/', extract(epoch from pg_postmaster_start_time()),
    (select oid from pg_database where datname = current_database()), to_regclass('store_beat')::oid)
$function$;

CREATE FUNCTION take_report_place(wanted_kind text, wanted_holder integer, places integer, wanted_owner uuid, lease_ms integer)
 RETURNS smallint
 LANGUAGE sql
AS $function$
  insert into report_place as r (kind, holder, place, owner, expires_at)
  select wanted_kind, wanted_holder, p.number, wanted_owner, now() + lease_ms * interval '1 millisecond'
  from generate_series(1, places) as p(number)
  where not exists (select from report_place t
    where t.kind = wanted_kind and t.holder = wanted_holder and t.place = p.number and t.expires_at >= now())
  order by p.number limit 1
  on conflict (kind, holder, place) do update set owner = excluded.owner, expires_at = excluded.expires_at
    where r.expires_at < now()
  returning r.place
$function$;

CREATE FUNCTION tracking_host_key(host text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select regexp_replace(regexp_replace(lower(host), ':(80|443)$', ''), '\.(:|$)', '\1')
$function$;

CREATE FUNCTION try_change_by_report(of_conversion uuid, from_version integer, change jsonb, caps jsonb, timezone text)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  answer jsonb;
begin
  begin
    answer := change_by_report(of_conversion, from_version, change, caps, timezone);
    raise exception 'only tried' using errcode = 'TRIED';
  exception when sqlstate 'TRIED' then
    return answer;
  end;
end $function$;

CREATE FUNCTION try_conversion(input jsonb, plan jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  answer jsonb;
begin
  begin
    answer := record_conversions(jsonb_build_array(jsonb_build_object('row', input, 'plan', plan))) -> 0;
    raise exception 'only tried' using errcode = 'TRIED';
  exception when sqlstate 'TRIED' then
    return answer;
  end;
end $function$;

CREATE FUNCTION waiting_endpoints()
 RETURNS TABLE(destination text, kind text, endpoint_id integer, due_at timestamp with time zone)
 LANGUAGE sql
 STABLE
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_sort TO 'off'
 SET enable_incremental_sort TO 'off'
AS $function$
  with recursive waiting as (
    (select d.destination, d.kind, d.endpoint_id, d.due_at from delivery d
     where d.due_at is not null order by d.destination, d.kind, d.endpoint_id, d.due_at limit 1)
    union all
    select n.destination, n.kind, n.endpoint_id, n.due_at
    from waiting w cross join lateral (
      select d.destination, d.kind, d.endpoint_id, d.due_at from delivery d
      where d.due_at is not null and (d.destination, d.kind, d.endpoint_id) > (w.destination, w.kind, w.endpoint_id)
      order by d.destination, d.kind, d.endpoint_id, d.due_at limit 1) n
  )
  select w.destination, w.kind, w.endpoint_id, w.due_at from waiting w
$function$;

CREATE FUNCTION without_ad_ids(document text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE STRICT
AS $function$
  select regexp_replace(document, '("(?:gclid|gbraid|wbraid|msclkid|fbclid|ttclid)"\s*:\s*)"(?:[^"\\]|\\.)+"', '\1""', 'g')
$function$;

CREATE FUNCTION without_hashed(params jsonb, erased text[])
 RETURNS jsonb
 LANGUAGE sql
 STABLE STRICT
AS $function$
  select coalesce(jsonb_object_agg(p.key, case
    when keyed_hash(erasure_key(), p.value #>> '{}') = any(erased) then '""'::jsonb else p.value end), '{}')
  from jsonb_each(params) p
$function$;

CREATE FUNCTION without_person(params jsonb, names text[], personal text[])
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE STRICT
AS $function$
  select coalesce(jsonb_object_agg(p.key, case
    when lower(p.key) = any(names) or p.value #>> '{}' = any(personal) then '""'::jsonb else p.value end), '{}')
  from jsonb_each(params) p
$function$;
