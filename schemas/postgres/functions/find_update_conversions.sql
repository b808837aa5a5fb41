-- Finds the conversions that rows of a file name (N129): by id, by offer and order, or by click, the latter two also with an event. Duplicates are only
-- found by id. What is named twice over is refused, what is not there is unknown.
create or replace function find_update_conversions(u conversion_update, after_number integer, up_to integer) returns void language sql as $$
  with named as materialized (
    select r.ctid, r.fields, (r.fields ->> 'conversion_id')::uuid as conversion_id,
      case when r.fields ? 'txid' then
        case when r.fields ? 'offer' then coalesce(
               (select o.id from offer o where o.workspace_id = u.workspace_id
                  and o.id = case when r.fields ->> 'offer' ~ '^[1-9][0-9]{0,8}$' then (r.fields ->> 'offer')::integer end),
               (select o.id from offer o where o.workspace_id = u.workspace_id and lower(o.code) = lower(r.fields ->> 'offer')
                order by o.deleted_at is null desc, o.id desc limit 1))
             else u.offer_ids[1] end end as offer_id
    from conversion_update_row r
    where r.update_id = u.id and r.number > after_number and r.number <= up_to and r.conversion_id is null
      and not r.faults ?| array['', 'conversion_id', 'offer', 'txid', 'click_id', 'event']
  ), found as (
    select n.ctid, c.count, c.id
    from named n cross join lateral (
      select count(*) as count, (array_agg(f.id))[1] as id
      from (
        select t.id from conversion t where t.id = n.conversion_id and t.workspace_id = u.workspace_id
        union all
        (select t.id from conversion t
         where n.conversion_id is null and t.workspace_id = u.workspace_id and t.adv_txid = n.fields ->> 'txid' and t.offer_id = n.offer_id
           and not t.is_duplicate and (not n.fields ? 'event' or t.event_code = n.fields ->> 'event') limit 2)
        union all
        (select t.id from conversion t
         where n.conversion_id is null and not n.fields ? 'txid' and t.click_id = n.fields ->> 'click_id' and t.workspace_id = u.workspace_id
           and not t.is_duplicate and (not n.fields ? 'event' or t.event_code = n.fields ->> 'event') limit 2)
      ) f
    ) c
  )
  update conversion_update_row r
  set conversion_id = case when f.count = 1 then f.id end,
      outcome = case when r.faults <> '{}' then 'refused' when f.count = 0 then 'unknown' when f.count > 1 then 'refused' end,
      faults = case when f.count > 1 then r.faults || jsonb_build_object(
        case when r.fields ? 'txid' then 'txid' else 'click_id' end, 'names several conversions: add the event, or use conversion_id') else r.faults end
  from found f
  -- By its place: of a new file Postgres has no statistics, and would read other rows of the step for each of them.
  where r.ctid = f.ctid
$$;
