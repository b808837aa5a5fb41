-- Records every {row, plan} of `batch` in one transaction, in their order and without what was erased; answers their outcomes in the same
-- order. An error leaves nothing of the batch behind: the caller repeats its rows one by one.
--
-- An item may have a `key` {workspace_id, advertiser_id, key, fingerprint, details}: the first of them is recorded with its answer, the
-- others get the same answer. It may have a `coupon_click` {click, producer, until_ms}, which is kept with the conversion.
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
end $$;
