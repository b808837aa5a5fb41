-- Clicks that coupons stand for (G115, TRK-037), from the commit of their conversion until somebody has found them stored.

create table coupon_click (
  click_id text primary key,
  conversion_id uuid not null,
  -- As ingress records it.
  click jsonb not null,
  -- Only the ingress with this journal may record it, until this moment of its own clock (UTC milliseconds).
  producer integer not null,
  until_ms bigint not null,
  -- When it is looked for next; whoever looks moves it on.
  due_at timestamptz(3) not null default clock_timestamp() + interval '2 seconds'
);
create index coupon_click_due on coupon_click (due_at);

-- As in migration 0024; an item may have a `coupon_click` {click, producer, until_ms}, which is kept with the conversion.
create or replace function record_conversions(batch jsonb) returns jsonb language plpgsql as $$
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
      outcome := record_conversion(item -> 'row', jsonb_populate_record(null::conversion_plan, item -> 'plan'));
      if item ? 'key' and outcome ->> 'outcome' = 'recorded' then
        perform add_report_key(item -> 'key', jsonb_build_object('taken', jsonb_build_object(
          'conversionId', outcome -> 'id', 'status', outcome -> 'status', 'reason', outcome -> 'status_reason',
          'isDuplicate', outcome -> 'is_duplicate', 'isUpdate', false, 'details', item -> 'key' -> 'details')));
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
end $$;
