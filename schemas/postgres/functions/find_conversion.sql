-- The row that a report is about (G106, G107): the holder of its order id on the offer, else the one that stands for its click
-- and event. `latest_of_click`: an event that allows several, with a status and no order id, is about the newest of them.
create or replace function find_conversion(c conversion, latest_of_click boolean, out found_row conversion, out found_by text) returns record language plpgsql as $$
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
end $$;
