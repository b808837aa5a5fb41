-- What an advertiser owes for a conversion in this state.
create or replace function charged(c conversion) returns numeric language sql immutable as $$
  select case when c.status = 'approved' then c.revenue else 0 end
$$;
